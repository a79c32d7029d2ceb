//! Which reader fills in which subject of a host, and what it has to know before.

use super::{
    cgroups, clocksource, cooling, cpufreq, cpuidle, dmi, energy_bias, hsmp, infiniband,
    interrupts, ipmi, isolation, kernel, msrs, network, pcie, platform, power_cap, power_limits,
    processes, pstate, sysctl, throttling, topology, tuners, uncore, vulnerabilities,
};
use crate::Source;
use facts::cpu::cpuinfo::CpuInfo;
use facts::{HostView, Subject, Subjects};

/// Fills in one subject.
pub(super) struct Reader {
    pub(super) subject: Subject,
    /// What it looks at in the host that is being filled in.
    needs: Subjects,
    pub(super) read: fn(&dyn Source, &mut HostView),
}

const fn reader(
    subject: Subject,
    needs: &[Subject],
    read: fn(&dyn Source, &mut HostView),
) -> Reader {
    Reader { subject, needs: Subjects::of(needs), read }
}

/// Every reader, each behind those that it needs.
pub(super) const READERS: &[Reader] = &[
    reader(Subject::Cpuinfo, &[], |source, host| {
        host.cpuinfo = source.parsed("/proc/cpuinfo", CpuInfo::parse);
    }),
    // Without sysfs, /proc/cpuinfo says which CPUs are online.
    reader(Subject::Cpus, &[Subject::Cpuinfo], topology::read_cpus),
    reader(Subject::Groups, &[Subject::Cpus], topology::read_groups),
    reader(Subject::Dmi, &[], |source, host| host.dmi = dmi::read(source)),
    reader(Subject::Platform, &[Subject::Cpuinfo, Subject::Dmi], |source, host| {
        host.platform = platform::read(source, &host.cpuinfo, &host.dmi);
    }),
    reader(Subject::Kernel, &[Subject::Platform], |source, host| {
        host.kernel = kernel::read(source, &host.platform);
    }),
    reader(Subject::Interrupts, &[], |source, host| host.interrupts = interrupts::read(source)),
    reader(Subject::Processes, &[], |source, host| host.processes = processes::read(source)),
    reader(
        Subject::Msrs,
        &[Subject::Cpuinfo, Subject::Platform, Subject::Groups],
        |source, host| {
            host.msrs = msrs::read(source, &host.cpuinfo, &host.platform, &host.topology);
        },
    ),
    reader(Subject::Policies, &[Subject::Cpus], cpufreq::read_policies),
    reader(Subject::Limits, &[Subject::Policies], cpufreq::read_limits),
    reader(Subject::Governors, &[Subject::Cpuinfo, Subject::Policies], cpufreq::read_governors),
    reader(Subject::Pstate, &[], |source, host| host.pstate = pstate::read(source)),
    reader(
        Subject::EnergyBias,
        &[Subject::Cpuinfo, Subject::Cpus, Subject::Msrs],
        |source, host| {
            host.energy_bias = energy_bias::read(source, &host.cpuinfo, &host.topology, &host.msrs);
        },
    ),
    reader(Subject::Tuners, &[], |source, host| host.tuners = tuners::read(source)),
    reader(Subject::Throttling, &[Subject::Cpuinfo, Subject::Groups], |source, host| {
        host.throttling = throttling::read(source, &host.cpuinfo, &host.topology);
    }),
    reader(Subject::Cooling, &[], |source, host| host.cooling = cooling::read(source)),
    reader(Subject::CoolingOfLimits, &[Subject::Limits], cooling::read_of_limits),
    reader(Subject::Ipmi, &[Subject::Processes], |source, host| {
        host.ipmi = ipmi::read(source, &host.processes);
    }),
    // Whether the controller has a device is not to be told without whether it has a driver.
    reader(Subject::PowerCap, &[Subject::Ipmi], |source, host| {
        host.power_cap = power_cap::read(source, &host.ipmi.interfaces);
    }),
    reader(Subject::IdleDriver, &[], cpuidle::read_driver),
    reader(Subject::IdleStates, &[Subject::Cpus], cpuidle::read_states),
    reader(Subject::LatencyLimit, &[], cpuidle::read_latency_limit),
    reader(
        Subject::IdleLimits,
        &[Subject::Cpus, Subject::IdleStates, Subject::LatencyLimit, Subject::Processes],
        cpuidle::read_limits,
    ),
    reader(Subject::Clocksource, &[], |source, host| host.clocksource = clocksource::read(source)),
    reader(Subject::LimitedGroups, &[Subject::Processes], |source, host| {
        host.limited_groups = cgroups::read(source, &host.processes);
    }),
    reader(Subject::Infiniband, &[], |source, host| host.infiniband = infiniband::read(source)),
    reader(Subject::Pcie, &[], |source, host| host.pcie = pcie::read(source)),
    reader(Subject::Network, &[], |source, host| host.network = network::read(source)),
    reader(
        Subject::AdapterInterrupts,
        &[Subject::Network, Subject::Interrupts],
        network::read_interrupts,
    ),
    reader(Subject::Isolation, &[Subject::Kernel, Subject::Cpus], isolation::read_cpus),
    reader(
        Subject::Disturbers,
        &[Subject::Isolation, Subject::Interrupts, Subject::Processes],
        isolation::read_disturbers,
    ),
    reader(Subject::CpuTimes, &[], |source, host| {
        host.cpu_times = interrupts::cpu_times(source);
    }),
    reader(Subject::PowerLimits, &[], |source, host| {
        host.power_limits = power_limits::read(source);
    }),
    reader(Subject::Hsmp, &[Subject::Cpuinfo, Subject::Platform], |source, host| {
        host.hsmp = hsmp::read(source, host);
    }),
    reader(Subject::Uncore, &[], |source, host| host.uncore = uncore::read(source)),
    reader(Subject::Vulnerabilities, &[], |source, host| {
        host.vulnerabilities = vulnerabilities::read(source);
    }),
    reader(Subject::Sysctls, &[], |source, host| host.sysctls = sysctl::read(source)),
];

/// These subjects and all that they cannot be told without.
pub(super) fn with_needed(subjects: Subjects) -> Subjects {
    // Whoever needs something stands behind it.
    READERS.iter().rev().fold(subjects, |asked, reader| {
        if asked.contains(reader.subject) { asked.and(reader.needs) } else { asked }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Captured, Recording, view, view_of};
    use facts::Origin;

    #[test]
    fn every_reader_stands_behind_what_it_needs() {
        let mut read = Subjects::NONE;
        for reader in READERS {
            let name = format!("{:?}", reader.subject);
            assert_eq!(read.and(reader.needs), read, "{name} is read before what it needs");
            assert!(!read.contains(reader.subject), "{name} is read twice");
            read = read.and(Subjects::of(&[reader.subject]));
        }
    }

    #[test]
    fn of_a_whole_view_nothing_was_left_unasked() {
        let host = view(&Captured::excerpt("").unwrap());
        assert!(!format!("{host:?}").contains("did not ask"), "{host:?}");
    }

    #[test]
    fn whoever_asks_for_nothing_asks_the_source_nothing_and_knows_nothing() {
        let source = Captured::excerpt("//- /proc/cpuinfo\nprocessor : 0\n").unwrap();
        let recording = Recording::new(&source);
        let host = view_of(&recording, Subjects::NONE);
        assert_eq!(recording.capture(), "fullclock capture 1\n");
        assert_eq!(host, HostView::unasked(Origin::Capture));
        assert!(!format!("{host:?}").contains("Ok("));
    }

    #[test]
    fn a_subject_is_the_same_whatever_else_is_asked_for() {
        let text = "\
//- /proc/cpuinfo
processor : 0
flags : epb
//- /sys/devices/system/cpu/online
0
//- /sys/devices/system/cpu/cpu0/power/energy_perf_bias
6
//- /sys/devices/system/cpu/cpufreq/policy0/scaling_driver
acpi-cpufreq
//- /sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq
800000
";
        let source = Captured::excerpt(text).unwrap();
        let whole = view(&source);
        let of = |subject| view_of(&source, Subjects::of(&[subject]));
        assert_eq!(of(Subject::EnergyBias).energy_bias, whole.energy_bias);
        assert!(whole.energy_bias.is_ok());
        let both = Subjects::of(&[Subject::Limits, Subject::Governors]);
        assert_eq!(view_of(&source, both).cpufreq, whole.cpufreq);
        let policies = of(Subject::Governors).cpufreq.policies.unwrap();
        assert_eq!(policies[0].driver.as_deref(), Ok("acpi-cpufreq"));
        assert!(policies[0].scaling_min.as_ref().is_err_and(|it| !it.is_absence()));
    }
}
