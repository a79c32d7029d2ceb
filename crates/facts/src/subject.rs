//! Which parts of a host can be asked for by themselves.
//!
//! An audit asks for all of them. A plan asks for those that its settings look at: on a host of a thousand CPUs the rest
//! costs more time than the plan.

/// A part of [`crate::HostView`]: a field of it, or some of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// `kernel`.
    Kernel,
    /// `distribution`.
    Distribution,
    /// `dmi`.
    Dmi,
    /// `platform`.
    Platform,
    /// `cpuinfo`.
    Cpuinfo,
    /// Of `topology`: which CPUs there are, and their kinds.
    Cpus,
    /// Of `topology`: which CPUs share a core and a package.
    Groups,
    /// Of `cpufreq`: which policies there are, their CPUs and drivers.
    Policies,
    /// Of `cpufreq`: the limits of the policies, and of what they are limits.
    Limits,
    /// Of `cpufreq`: who chooses the policies' clocks, by which preference, and which.
    Governors,
    /// `pstate`.
    Pstate,
    /// `energy_bias`.
    EnergyBias,
    /// `tuners`.
    Tuners,
    /// `msrs`.
    Msrs,
    /// `throttling`.
    Throttling,
    /// `delivered`, and of `cpufreq` the clocks that are read from the hardware. An audit of this machine looks at counters twice.
    Delivered,
    /// `cooling` and `thermal_zones`.
    Cooling,
    /// The same, where a policy may not run at its highest clock, which a cooling device may be the reason of.
    CoolingOfLimits,
    /// Of `cpuidle`: the driver and the governor.
    IdleDriver,
    /// Of `cpuidle`: the states.
    IdleStates,
    /// Of `cpuidle`: the limit of exit latency for the whole host.
    LatencyLimit,
    /// Of `cpuidle`: the limits of single CPUs, and who holds that of the host.
    IdleLimits,
    /// Of `isolation`: which CPUs are kept free.
    Isolation,
    /// Of `isolation`: what may disturb them.
    Disturbers,
    /// `scheduler`.
    Scheduler,
    /// `interrupts`.
    Interrupts,
    /// `cpu_times`.
    CpuTimes,
    /// `power_limits`.
    PowerLimits,
    /// `power_cap`: the management controller is asked.
    PowerCap,
    /// `redfish`: the management controller is asked, where one is configured.
    Redfish,
    /// `hsmp`.
    Hsmp,
    /// `plr`.
    Plr,
    /// `speed_select`.
    SpeedSelect,
    /// `uncore`.
    Uncore,
    /// `memory_bandwidth`.
    MemoryBandwidth,
    /// `board_power`.
    BoardPower,
    /// `vulnerabilities`.
    Vulnerabilities,
    /// `sysctls`.
    Sysctls,
    /// `clocksource`.
    Clocksource,
    /// `limited_groups`.
    LimitedGroups,
    /// `throttled_groups`.
    ThrottledGroups,
    /// `clamped_groups`.
    ClampedGroups,
    /// `processes`.
    Processes,
    /// `ipmi`.
    Ipmi,
    /// `infiniband`.
    Infiniband,
    /// `pcie`.
    Pcie,
    /// `network`, without who serves the interrupts of adapters.
    Network,
    /// Of `network`: who serves the interrupts of adapters.
    AdapterInterrupts,
    /// `log`: the kernel's log is read whole.
    Log,
    /// `baseline`.
    Baseline,
}

/// A set of subjects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subjects(u64);

impl Subjects {
    /// No subject.
    pub const NONE: Subjects = Subjects(0);

    /// Every subject.
    pub const ALL: Subjects = Subjects(u64::MAX);

    /// These subjects.
    pub const fn of(subjects: &[Subject]) -> Subjects {
        let mut set = Subjects::NONE;
        let mut at = 0;
        while at < subjects.len() {
            set = set.and(Subjects(subjects[at].bit()));
            at += 1;
        }
        set
    }

    /// These and others.
    #[must_use]
    pub const fn and(self, others: Subjects) -> Subjects {
        Subjects(self.0 | others.0)
    }

    /// Whether a subject is one of them.
    pub const fn contains(self, subject: Subject) -> bool {
        self.0 & subject.bit() != 0
    }
}

impl Subject {
    const fn bit(self) -> u64 {
        1 << self as u32
    }
}

impl FromIterator<Subjects> for Subjects {
    fn from_iter<I: IntoIterator<Item = Subjects>>(sets: I) -> Subjects {
        sets.into_iter().fold(Subjects::NONE, Subjects::and)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in_and_nothing_else() {
        let set = Subjects::of(&[Subject::Kernel, Subject::Pcie]);
        assert!(set.contains(Subject::Kernel) && set.contains(Subject::Pcie));
        assert!(!set.contains(Subject::Dmi) && !set.contains(Subject::Infiniband));
        assert!(set.and(Subjects::of(&[Subject::Dmi])).contains(Subject::Dmi));
        assert_eq!([set, Subjects::ALL].into_iter().collect::<Subjects>(), Subjects::ALL);
        assert_eq!(Subjects::of(&[]), Subjects::NONE);
    }
}
