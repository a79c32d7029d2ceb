//! Reads the state of the running kernel: release, boot line, clock source, sysctls and vulnerabilities.

use crate::Source;
use facts::parse::{self, Expected};
use facts::system::boot_line::BootLine;
use facts::system::kernel::{
    CLOCKSOURCE_FOLDER, Clocksource, Kernel, SUSPENDS, VULNERABILITIES_FOLDER, Vulnerability,
    runnable, uptime,
};
use facts::system::kernel_config::KernelConfig;
use facts::system::platform::Platform;
use facts::system::preemption;
use facts::system::sysctl::{Sysctls, not_zero};
use facts::{CpuSet, Fact, Missing, Why};
use std::io::Read;
use std::time::Duration;

pub(super) fn read(source: &dyn Source, platform: &Platform) -> Kernel {
    let release = source.parsed("/proc/sys/kernel/osrelease", parse::line);
    let boot_line = source.text("/proc/cmdline").map(|text| BootLine::new(&text));
    Kernel {
        config: read_config(source, &release),
        release,
        suspends: source.parsed(SUSPENDS, parse::number),
        preempt_mode: source.parsed(preemption::FILE, preemption::in_force),
        boot_line,
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
        _ => source.parsed("/proc/uptime", uptime),
    }
}

/// Reads the clock source.
pub(super) fn read_clocksource(source: &dyn Source) -> Clocksource {
    Clocksource {
        current: source.parsed(&format!("{CLOCKSOURCE_FOLDER}/current_clocksource"), parse::line),
        available: source
            .parsed(&format!("{CLOCKSOURCE_FOLDER}/available_clocksource"), parse::words),
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
        let state = source.parsed(&format!("{VULNERABILITIES_FOLDER}/{name}"), parse::line);
        Vulnerability { name, state }
    };
    Ok(source.list(VULNERABILITIES_FOLDER)?.into_iter().map(of).collect())
}

/// Reads how the running kernel was built, from wherever its distribution keeps that.
///
/// The kernel's own copy first: the others only belong to a kernel of the same name.
pub(super) fn read_config(source: &dyn Source, release: &Fact<String>) -> Fact<KernelConfig> {
    let own = compressed(source, "/proc/config.gz");
    let Ok(release) = release else { return own.map_err(|missing| none(missing, &[])) };
    let places = [format!("/boot/config-{release}"), format!("/lib/modules/{release}/config")];
    let mut reasons = Vec::new();
    match own {
        Ok(config) => return Ok(config),
        Err(missing) => reasons.push(missing),
    }
    for path in &places {
        match source.parsed(path, |text| KernelConfig::parse(path, text)) {
            Ok(config) => return Ok(config),
            Err(missing) => reasons.push(missing),
        }
    }
    let known = reasons.iter().find(|missing| !missing.is_absence());
    Err(known.cloned().unwrap_or_else(|| none(Missing::absent("/proc/config.gz"), &places)))
}

/// A kernel always has a configuration: without a copy of it, it is unknown and not absent.
fn none(missing: Missing, places: &[String]) -> Missing {
    if !missing.is_absence() {
        return missing;
    }
    let also = places.first().map(|path| format!(" or {path}")).unwrap_or_default();
    let why = Why::Failed(format!("there is no {}{also}", missing.what));
    Missing { what: "the kernel's configuration".to_owned(), why }
}

fn compressed(source: &dyn Source, path: &str) -> Fact<KernelConfig> {
    let bytes = source.read(path)?;
    let text = config_text(&bytes)
        .ok_or_else(|| Missing::malformed(path, "no gzip data", "a compressed configuration"))?;
    KernelConfig::parse(path, &text)
        .map_err(|Expected(expected)| Missing::malformed(path, &text, expected))
}

/// The text of a compressed configuration, or of one that is text already, as captures hold it.
pub(crate) fn config_text(bytes: &[u8]) -> Option<String> {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    if bytes.starts_with(&GZIP) { inflated(bytes) } else { String::from_utf8(bytes.to_vec()).ok() }
}

fn inflated(bytes: &[u8]) -> Option<String> {
    /// Real ones have 100 to 300 KiB; a copy of a host may hold a bomb.
    const LARGEST: u64 = 4 << 20;
    let mut text = Vec::new();
    let n_read = flate2::read::GzDecoder::new(bytes).take(LARGEST).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    (n_read as u64 != LARGEST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;
    use std::io::Write;

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

    fn config(excerpt: &str) -> Fact<KernelConfig> {
        read_config(&Captured::excerpt(excerpt).unwrap(), &Ok("6.1.0".into()))
    }

    fn gzip(text: &[u8]) -> String {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        let bytes = encoder.finish().unwrap();
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("//- /proc/config.gz\n!bytes {digits}\n")
    }

    #[test]
    fn the_kernels_own_copy_comes_before_the_one_in_boot() {
        let boot = "//- /boot/config-6.1.0\nCONFIG_HZ=100\n";
        let both = format!("{}{boot}", gzip(b"CONFIG_HZ=1000\n"));
        assert_eq!(config(&both).unwrap().ticks_per_second(), Some(1000));
        assert_eq!(config(boot).unwrap().path, "/boot/config-6.1.0");
    }

    #[test]
    fn a_configuration_that_nobody_kept_is_not_known() {
        assert_eq!(
            config("").unwrap_err().to_string(),
            "the kernel's configuration cannot be read: there is no /proc/config.gz or /boot/config-6.1.0"
        );
    }

    #[test]
    fn a_capture_holds_an_excerpt_as_text_that_answers_the_same() {
        let text =
            "CONFIG_HZ=1000\nCONFIG_CMDLINE=\"ip=10.1.2.3\"\n# CONFIG_NO_HZ_FULL is not set\n";
        for file in [gzip(text.as_bytes()), format!("//- /boot/config-6.1.0\n{text}")] {
            let host = Captured::excerpt(&file).unwrap();
            let recording = crate::Recording::new(&host);
            let config = read_config(&recording, &Ok("6.1.0".into()));
            let capture = recording.capture();
            let kept = "asks for\nCONFIG_HZ=1000\n# CONFIG_NO_HZ_FULL is not set\n";
            assert!(capture.contains(kept) && !capture.contains("CMDLINE"), "{capture}");
            assert_eq!(
                read_config(&Captured::parse(&capture).unwrap(), &Ok("6.1.0".into())),
                config
            );
        }
    }

    #[test]
    fn data_that_inflates_without_end_is_refused() {
        let bomb = gzip(&vec![b'\n'; 5 << 20]);
        assert!(config(&bomb).unwrap_err().to_string().contains("compressed configuration"));
        assert!(config("//- /proc/config.gz\n!bytes 1f8b\n").is_err());
    }
}
