//! Reads what the running kernel says of itself.

use crate::Source;
use facts::system::boot_line::BootLine;
use facts::system::kernel::{Kernel, runnable, uptime};
use facts::system::platform::Platform;
use facts::system::preemption;
use facts::{Fact, Missing, parse};
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

/// lxcfs shows the container's own age in /proc/uptime, while every counter is the host's.
fn uptime_of_host(source: &dyn Source, platform: &Platform) -> Fact<Duration> {
    match &platform.container {
        Ok(Some(kind)) if kind == "lxc" => {
            Err(Missing::hidden("the host's uptime", "the container (lxc)"))
        }
        _ => source.of_every_kernel(source.parsed("/proc/uptime", uptime)),
    }
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
