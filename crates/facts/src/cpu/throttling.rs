//! Thermal throttling as the kernel counts it, and the devices that the kernel uses to cool the machine.
//!
//! Sources: drivers/thermal/intel/therm_throt.c, /sys/devices/system/cpu/cpuN/thermal_throttle. The kernel counts
//! interrupts in which bit 0 of 0x19C (core) or 0x1B1 (package) was set, since boot. Before Linux 3.11, and
//! later with `int_pln_enable` on the boot line, it also counts those in which bit 10 was set (a power limit). It does not count external
//! PROCHOT#, current limits, or clock modulation. Time is counted only for events within 10 degrees of the
//! limit. Where firmware handles the thermal interrupt, the folder does not exist.
//!
//! On bare-metal POWER the on-chip controller (OCC) lowers the highest clock, and the kernel counts its reasons in
//! cpuN/cpufreq/throttle_stats (Documentation/ABI/testing/sysfs-devices-system-cpu;
//! drivers/cpufreq/powernv-cpufreq.c).
//!
//! Cooling devices: Documentation/ABI/testing/sysfs-class-thermal; these stop or slow CPUs: `Processor`
//! (drivers/acpi/processor_thermal.c), `intel_powerclamp` (drivers/thermal/intel/intel_powerclamp.c), `cpufreq-cpuN`
//! (drivers/thermal/cpufreq_cooling.c; `thermal-cpufreq-N` on older kernels) and `idle-cpuN` (cpuidle_cooling.c; `thermal-idle-N`). The pressure of
//! heat on the scheduler (arch_topology.c, `hw_pressure`) no file shows: what causes it is in these devices and in `scaling_max_freq`.

use crate::{CpuSet, Fact, Missing, PerCpu};
use std::time::Duration;

/// Thermal throttling since boot. The threads of a core count the same events, and so do the CPUs of a package: each
/// count is kept once, under its lowest CPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Throttling {
    /// Events per core.
    pub cores: PerCpu<Throttled>,
    /// Events per package; on POWER those that the OCC calls `overtemp`.
    pub packages: PerCpu<Throttled>,
    /// On POWER, what the OCC says of each package beside that; empty on other machines.
    pub occ: PerCpu<Occ>,
    /// How often a core reached a power limit: `core_power_limit_count`.
    pub core_power: PerCpu<Throttled>,
    /// How often a package reached a power limit: `package_power_limit_count`.
    pub package_power: PerCpu<Throttled>,
}

/// What the on-chip controller of a POWER processor says of the highest clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Occ {
    /// Why it lowered it.
    pub reasons: Vec<OccReason>,
    /// `unthrottle`: how often it raised it to the full clock again.
    pub n_raised: Fact<u64>,
    /// `turbo_stat`: how often it lowered it and left the nominal clock or more.
    pub n_within_turbo: Fact<u64>,
    /// `sub_turbo_stat`: how often it lowered it to less than the nominal clock.
    pub n_below_nominal: Fact<u64>,
    /// The folder of these files, for evidence.
    pub folder: String,
}

impl Occ {
    /// Its counts of how far it lowered the clock and how often it raised it, by their files.
    pub fn counts(&self) -> [(&'static str, &Fact<u64>); 3] {
        [
            ("unthrottle", &self.n_raised),
            ("turbo_stat", &self.n_within_turbo),
            ("sub_turbo_stat", &self.n_below_nominal),
        ]
    }

    /// Whether it has lowered the highest clock more often than it has raised it again. Unknown counts as no.
    pub fn may_hold(&self) -> bool {
        let n_lowered = self.reasons.iter().map(|it| it.events).fold(0, u64::saturating_add);
        self.n_raised.as_ref().is_ok_and(|it| n_lowered > *it)
    }
}

/// How often the on-chip controller of a POWER processor lowered the highest clock, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OccReason {
    /// Its file: `powercap`, `supply_fault`, `overcurrent` or `occ_reset`.
    pub path: String,
    /// The reason, in words that can follow "lowered the highest clock".
    pub name: &'static str,
    /// The number of events since boot.
    pub events: u64,
}

impl OccReason {
    /// Whether it is a limit on the system's power.
    pub fn is_power_cap(&self) -> bool {
        self.path.ends_with("/powercap")
    }
}

/// The files in `throttle_stats` other than `overtemp`, and their reasons.
pub const OCC_REASONS: [(&str, &str); 4] = [
    ("supply_fault", "a failed power supply"),
    ("powercap", "a power cap"),
    ("overcurrent", "a limit of electrical current"),
    ("occ_reset", "a reset of the on-chip controller (OCC)"),
];

/// The events of one counter.
#[derive(Clone, Debug, PartialEq)]
pub struct Throttled {
    /// Its file, for evidence.
    pub path: String,
    /// `*_throttle_count`, or `*_power_limit_count`.
    pub events: u64,
    /// `*_throttle_total_time_ms` (Linux 5.6 and later), read where there were events.
    pub total: Fact<Duration>,
}

/// A cooling device that acts on CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct CoolingDevice {
    /// Its folder, for evidence and commands: `/sys/class/thermal/cooling_device0`.
    pub folder: String,
    /// What it does.
    pub kind: Kind,
    /// `cur_state`; 0 is off, and so is -1 of powerclamp before Linux 6.3.
    pub state: Fact<i64>,
    /// `max_state`, read only where the device is on.
    pub max: Fact<u64>,
    /// The CPU it acts on, read only where the device is on.
    pub cpu: Fact<u32>,
}

/// What a cooling device does to CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// ACPI passive cooling: steps of the highest frequency, then T-states.
    Processor,
    /// Idle time forced onto every CPU, in percent.
    Powerclamp,
    /// Steps of the highest frequency of one cpufreq policy.
    Frequency,
    /// Idle time forced onto some CPUs, in percent.
    IdleInjection,
}

impl Kind {
    /// The kind with this `type`; `None` for fans and other devices that do not act on CPUs.
    pub fn of_type(name: &str) -> Option<Kind> {
        match name {
            "Processor" => Some(Kind::Processor),
            "intel_powerclamp" => Some(Kind::Powerclamp),
            _ if is_numbered(name, &["cpufreq-cpu", "thermal-cpufreq-"]) => Some(Kind::Frequency),
            _ if is_numbered(name, &["idle-cpu", "thermal-idle-"]) => Some(Kind::IdleInjection),
            _ => None,
        }
    }

    /// The CPU in a `type` that names the first one of those that the device acts on.
    pub fn cpu_of_type(name: &str) -> Option<u32> {
        let cpu = ["cpufreq-cpu", "idle-cpu"].iter().find_map(|it| name.strip_prefix(it))?;
        cpu.parse().ok()
    }
}

fn is_numbered(name: &str, prefixes: &[&str]) -> bool {
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    prefixes.iter().any(|prefix| name.strip_prefix(prefix).is_some_and(is_number))
}

impl CoolingDevice {
    /// The path of `cur_state`.
    pub fn state_path(&self) -> String {
        format!("{}/cur_state", self.folder)
    }

    /// Whether it acts on the highest clock of one of these CPUs, as far as is known.
    pub fn may_lower_clock_of(&self, cpus: &CpuSet) -> bool {
        match self.kind {
            Kind::Processor => true,
            Kind::Frequency => !matches!(&self.cpu, Ok(cpu) if !cpus.contains(*cpu)),
            Kind::Powerclamp | Kind::IdleInjection => false,
        }
    }

    /// Its level; 0 is off.
    pub fn level(&self) -> Result<u64, &Missing> {
        self.state.as_ref().map(|&state| u64::try_from(state).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_that_lower_the_clock_of_a_policy_are_known_by_their_names() {
        for name in ["cpufreq-cpu4", "thermal-cpufreq-0"] {
            assert_eq!(Kind::of_type(name), Some(Kind::Frequency));
        }
        assert_eq!(Kind::of_type("idle-cpu0"), Some(Kind::IdleInjection));
        assert_eq!(Kind::of_type("thermal-idle-1"), Some(Kind::IdleInjection));
        for name in ["cpufreq-cpu", "cpufreq-gpu0", "thermal-devfreq-0", "idle-cpus", "Fan"] {
            assert_eq!(Kind::of_type(name), None, "{name}");
        }
        assert_eq!(Kind::cpu_of_type("cpufreq-cpu4"), Some(4));
        assert_eq!(Kind::cpu_of_type("thermal-cpufreq-0"), None);
    }

    #[test]
    fn a_powerclamp_that_is_off_may_read_minus_one() {
        let device = CoolingDevice {
            folder: "/sys/class/thermal/cooling_device4".to_owned(),
            kind: Kind::Powerclamp,
            state: Ok(-1),
            max: Err(Missing::absent("max_state")),
            cpu: Err(Missing::absent("device")),
        };
        assert_eq!(device.level(), Ok(0));
    }
}
