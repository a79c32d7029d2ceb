//! Reads the state of the running kernel: release, boot line, clock source, sysctls and vulnerabilities.

use crate::Source;
use facts::system::boot_line::BootLine;
use facts::system::clocksource::{Clocksource, FOLDER as CLOCKSOURCE};
use facts::system::kernel::{Kernel, runnable, uptime};
use facts::system::platform::Platform;
use facts::system::preemption;
use facts::system::sysctl::{Sysctls, not_zero};
use facts::system::vulnerabilities::{FOLDER as VULNERABILITIES, Vulnerability};
use facts::{CpuSet, Fact, Missing, parse};
use std::time::Duration;

pub(super) fn read(source: &dyn Source, platform: &Platform) -> Kernel {
    let release = source.parsed("/proc/sys/kernel/osrelease", parse::line);
    let boot_line = source.text("/proc/cmdline").map(|text| BootLine::new(&text));
    Kernel {
        config: super::kernel_config::read(source, &release),
        release: source.of_every_kernel(release),
        preempt_mode: source.parsed(preemption::FILE, preemption::in_force),
        boot_line: source.of_every_kernel(boot_line),
        uptime: uptime_of_host(source, platform),
        runnable: source.parsed("/proc/loadavg", runnable),
    }
}

/// lxcfs shows the age of the container in /proc/uptime, while all counters are the host's.
fn uptime_of_host(source: &dyn Source, platform: &Platform) -> Fact<Duration> {
    match &platform.container {
        Ok(Some(kind)) if kind == "lxc" => {
            Err(Missing::hidden("the host's uptime", "the container (lxc)"))
        }
        _ => source.of_every_kernel(source.parsed("/proc/uptime", uptime)),
    }
}

/// Reads the clock source.
pub(super) fn read_clocksource(source: &dyn Source) -> Clocksource {
    Clocksource {
        current: source.parsed(&format!("{CLOCKSOURCE}/current_clocksource"), parse::line),
        available: source.parsed(&format!("{CLOCKSOURCE}/available_clocksource"), parse::words),
    }
}

/// Reads settings in /proc/sys.
pub(super) fn read_sysctls(source: &dyn Source) -> Sysctls {
    let switch = |name: &str| source.parsed(&format!("/proc/sys/{name}"), not_zero);
    Sysctls {
        nmi_watchdog: switch("kernel/nmi_watchdog"),
        watchdog_cpumask: source.parsed("/proc/sys/kernel/watchdog_cpumask", CpuSet::parse_list),
        timer_migration: switch("kernel/timer_migration"),
        split_lock_mitigate: switch("kernel/split_lock_mitigate"),
        stat_interval: source.parsed("/proc/sys/vm/stat_interval", parse::number),
    }
}

/// Reads the mitigations of processor vulnerabilities.
pub(super) fn read_vulnerabilities(source: &dyn Source) -> Fact<Vec<Vulnerability>> {
    let of = |name: String| {
        let state = source.parsed(&format!("{VULNERABILITIES}/{name}"), parse::line);
        Vulnerability { name, state }
    };
    Ok(source.list(VULNERABILITIES)?.into_iter().map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;

    fn platform(container: Option<&str>) -> Platform {
        Platform {
            hypervisor: Ok(None),
            is_control_domain: false,
            container: Ok(container.map(str::to_owned)),
        }
    }

    #[test]
    fn the_age_of_a_container_is_not_the_hosts() {
        let source = Captured::excerpt("//- /proc/uptime\n5.00 1.00\n").unwrap();
        assert!(read(&source, &platform(Some("docker"))).uptime.is_ok());
        assert_eq!(
            read(&source, &platform(Some("lxc"))).uptime,
            Err(Missing::hidden("the host's uptime", "the container (lxc)"))
        );
    }

    #[test]
    fn a_copy_without_a_boot_line_did_not_collect_it() {
        let text = "fullclock capture 1 (imported)\n//- /proc/uptime\n5.00 1.00\n";
        let kernel = read(&Captured::parse(text).unwrap(), &platform(None));
        assert_eq!(kernel.boot_line, Err(Missing::not_collected("/proc/cmdline")));
        assert!(kernel.uptime.is_ok());
    }
}
