//! Reads the subjects of a host: each reader asks a source and gives the text to the parsers of `facts`.

mod baseline;
mod clamped_groups;
mod controls;
mod cpufreq;
mod cpuidle;
mod delivered;
mod distribution;
mod ethtool;
mod groups;
mod hsmp;
mod ipmi;
mod kernel;
mod links;
mod log;
mod msrs;
mod network;
mod partitions;
mod platform;
mod plr;
mod power;
mod processes;
mod resctrl;
mod sampled;
mod scheduler;
mod speed_select;
mod thermal;
mod throttled_groups;
mod topology;
mod watched;

pub use baseline::baseline_in;
pub use controls::read as controls;
pub use ipmi::{bmc_device, bmc_firmware};
pub(crate) use kernel::config_text as kernel_config_text;
pub(crate) use log::is_log;
pub use network::serving;
pub use processes::{quota_of, read as processes};
pub use watched::Watch;

use crate::{CachedSource, Source};
use facts::cpu::cpuinfo::CpuInfo;
use facts::{HostView, Subject, Subjects};

/// Asks `source` everything that any check may want to know.
pub fn view(source: &dyn Source) -> HostView {
    view_of(source, Subjects::ALL)
}

/// Asks `source` for some subjects, and for those that they need. All others are missing as not collected.
pub fn view_of(source: &dyn Source, subjects: Subjects) -> HostView {
    let asked = with_needed(subjects);
    let mut host = HostView::unasked(source.origin());
    host.incomplete = source.incomplete().map(str::to_owned);
    let source = &CachedSource::of_folders(source);
    for reader in READERS.iter().filter(|it| asked.contains(it.subject)) {
        (reader.read)(source, &mut host);
    }
    if host.platform.is_control_domain {
        platform::leave_to_xen(&mut host);
    }
    host
}

/// Fills in one subject.
struct Reader {
    subject: Subject,
    /// The subjects of the host that it uses.
    needs: Subjects,
    read: fn(&dyn Source, &mut HostView),
}

const fn reader(
    subject: Subject,
    needs: &[Subject],
    read: fn(&dyn Source, &mut HostView),
) -> Reader {
    Reader { subject, needs: Subjects::of(needs), read }
}

/// Every reader, each after those that it needs.
const READERS: &[Reader] = &[
    reader(Subject::Cpuinfo, &[], |source, host| {
        host.cpuinfo = source.parsed("/proc/cpuinfo", CpuInfo::parse);
    }),
    // Without sysfs, /proc/cpuinfo says which CPUs are online.
    reader(Subject::Cpus, &[Subject::Cpuinfo], topology::read_cpus),
    reader(Subject::Groups, &[Subject::Cpus], topology::read_groups),
    reader(Subject::Dmi, &[], |source, host| host.dmi = platform::read_dmi(source)),
    reader(Subject::Platform, &[Subject::Cpuinfo, Subject::Dmi], |source, host| {
        host.platform = platform::read(source, &host.cpuinfo, &host.dmi);
    }),
    reader(Subject::Kernel, &[Subject::Platform], |source, host| {
        host.kernel = kernel::read(source, &host.platform);
    }),
    reader(Subject::Distribution, &[Subject::Platform, Subject::Kernel], |source, host| {
        host.distribution = distribution::read(source, &host.platform, &host.kernel);
    }),
    reader(Subject::Interrupts, &[], |source, host| {
        host.interrupts = topology::read_interrupts(source);
    }),
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
    reader(Subject::Isolation, &[Subject::Kernel, Subject::Cpus], topology::read_isolated),
    reader(Subject::Scheduler, &[Subject::Isolation], |source, host| {
        host.scheduler = scheduler::read(source, &host.isolation);
    }),
    reader(
        Subject::Delivered,
        &[
            Subject::Cpuinfo,
            Subject::Cpus,
            Subject::Platform,
            Subject::Policies,
            Subject::Limits,
            Subject::Isolation,
        ],
        delivered::read,
    ),
    reader(Subject::Pstate, &[], |source, host| host.pstate = cpufreq::read_pstate(source)),
    reader(
        Subject::EnergyBias,
        &[Subject::Cpuinfo, Subject::Cpus, Subject::Msrs],
        |source, host| {
            host.energy_bias =
                power::read_energy_bias(source, &host.cpuinfo, &host.topology, &host.msrs);
        },
    ),
    reader(Subject::Tuners, &[], |source, host| host.tuners = cpufreq::read_tuners(source)),
    reader(Subject::Throttling, &[Subject::Cpuinfo, Subject::Groups], |source, host| {
        host.throttling = thermal::read_throttling(source, &host.cpuinfo, &host.topology);
    }),
    reader(Subject::Cooling, &[], thermal::read_cooling),
    reader(Subject::CoolingOfLimits, &[Subject::Limits], thermal::read_cooling_of_limits),
    reader(Subject::Ipmi, &[Subject::Processes], |source, host| {
        host.ipmi = ipmi::read(source, &host.processes);
    }),
    // Whether the controller has a device is not to be told without whether it has a driver.
    reader(Subject::PowerCap, &[Subject::Ipmi], |source, host| {
        host.power_cap = ipmi::read_power_cap(source, &host.ipmi.interfaces);
    }),
    reader(Subject::Redfish, &[], |source, host| host.redfish = source.redfish()),
    reader(Subject::IdleDriver, &[], cpuidle::read_driver),
    reader(Subject::IdleStates, &[Subject::Cpus], cpuidle::read_states),
    reader(Subject::LatencyLimit, &[], cpuidle::read_latency_limit),
    reader(
        Subject::IdleLimits,
        &[Subject::Cpus, Subject::IdleStates, Subject::LatencyLimit, Subject::Processes],
        cpuidle::read_limits,
    ),
    reader(Subject::Clocksource, &[], |source, host| {
        host.clocksource = kernel::read_clocksource(source);
    }),
    reader(Subject::LimitedGroups, &[Subject::Processes], |source, host| {
        host.limited_groups = processes::read_limited_groups(source, &host.processes);
    }),
    reader(Subject::ThrottledGroups, &[Subject::Processes], |source, host| {
        host.throttled_groups = throttled_groups::read(source, &host.processes);
    }),
    reader(Subject::ClampedGroups, &[Subject::Governors, Subject::Processes], |source, host| {
        host.clamped_groups = clamped_groups::read(source, &host.cpufreq.policies, &host.processes);
    }),
    reader(Subject::Infiniband, &[], |source, host| {
        host.infiniband = links::read_infiniband(source);
    }),
    reader(Subject::Pcie, &[], |source, host| host.pcie = links::read_pcie(source)),
    reader(Subject::Network, &[], |source, host| host.network = network::read(source)),
    reader(
        Subject::AdapterInterrupts,
        &[Subject::Network, Subject::Interrupts],
        network::read_interrupts,
    ),
    reader(
        Subject::Disturbers,
        &[Subject::Isolation, Subject::Interrupts, Subject::Processes],
        topology::read_disturbers,
    ),
    reader(Subject::CpuTimes, &[], |source, host| {
        host.cpu_times = topology::read_cpu_times(source);
    }),
    reader(Subject::PowerLimits, &[], |source, host| {
        host.power_limits = power::read_limits(source);
    }),
    reader(Subject::Hsmp, &[Subject::Cpuinfo, Subject::Platform], |source, host| {
        host.hsmp = hsmp::read(source, host);
    }),
    reader(Subject::Plr, &[Subject::Cpuinfo, Subject::Platform], |source, host| {
        host.plr = plr::read(source, &host.cpuinfo, &host.platform);
    }),
    reader(
        Subject::SpeedSelect,
        &[Subject::Cpuinfo, Subject::Platform, Subject::Groups],
        |source, host| host.speed_select = speed_select::read(source, host),
    ),
    reader(Subject::Uncore, &[], |source, host| host.uncore = power::read_uncore(source)),
    reader(Subject::MemoryBandwidth, &[Subject::Cpuinfo, Subject::Processes], |source, host| {
        host.memory_bandwidth = resctrl::read(source, &host.cpuinfo, &host.processes);
    }),
    reader(Subject::BoardPower, &[Subject::Cpuinfo], |source, host| {
        host.board_power = power::read_board(source, &host.cpuinfo);
    }),
    reader(Subject::Vulnerabilities, &[], |source, host| {
        host.vulnerabilities = kernel::read_vulnerabilities(source);
    }),
    reader(Subject::Sysctls, &[], |source, host| host.sysctls = kernel::read_sysctls(source)),
    reader(Subject::Log, &[], |source, host| host.log = log::read(source)),
    reader(Subject::Baseline, &[], |source, host| host.baseline = baseline::read(source)),
];

/// These subjects and all that they need.
fn with_needed(subjects: Subjects) -> Subjects {
    // A reader is listed after those that it needs.
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
        let nothing = "fullclock capture 1\n# its last line is `//- end`\n//- end\n";
        assert_eq!(recording.capture(), nothing);
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
        let all = Subjects::of(&[Subject::Limits, Subject::Governors, Subject::Delivered]);
        assert_eq!(view_of(&source, all).cpufreq, whole.cpufreq);
        let policies = of(Subject::Governors).cpufreq.policies.unwrap();
        assert_eq!(policies[0].driver.as_deref(), Ok("acpi-cpufreq"));
        assert!(policies[0].scaling_min.as_ref().is_err_and(|it| !it.is_absence()));
    }
}
