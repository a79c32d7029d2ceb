//! The running kernel: release, boot line, time since boot, settings in /proc/sys, its clock source, and what it does about faults of
//! the processor.
//!
//! Sources: Documentation/admin-guide/kernel-parameters.rst (dashes and underscores are the same in the name of a
//! parameter, double quotes protect spaces in values, and everything after `--` is for init);
//! Documentation/admin-guide/sysctl/kernel.rst and vm.rst; Documentation/timers/timekeeping.rst and
//! /sys/devices/system/clocksource/clocksource0; Documentation/admin-guide/hw-vuln/ and /sys/devices/system/cpu/vulnerabilities
//! (since 4.15).

use super::kernel_config::KernelConfig;
use crate::parse::{Expected, signed, trimmed};
use crate::{CpuSet, Fact, Missing};
use std::time::Duration;

/// The running kernel, as it describes itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// `uname -r`: 6.1.0-49-amd64.
    pub release: Fact<String>,
    /// The boot line, /proc/cmdline.
    pub boot_line: Fact<BootLine>,
    /// The time since boot, /proc/uptime.
    pub uptime: Fact<Duration>,
    /// The number of threads that ran or waited for a CPU, including the one that read it.
    pub runnable: Fact<u64>,
    /// Its build configuration, where the kernel keeps a copy.
    pub config: Fact<KernelConfig>,
    /// [`SUSPENDS`]: how often the machine was suspended since boot, and woke up again.
    pub suspends: Fact<u64>,
    /// The active preemption model; [`Kernel::preemption`] works without it, too.
    pub preempt_mode: Fact<String>,
}

/// Successful suspends since boot (Linux 5.4 and later; Documentation/ABI/testing/sysfs-power).
pub const SUSPENDS: &str = "/sys/power/suspend_stats/success";

impl Kernel {
    /// The first two numbers of the release. Distributions backport features: prefer looking at what the kernel does.
    pub fn version(&self) -> Result<(u32, u32), Missing> {
        let release = self.release.as_ref()?;
        version(release).map_err(|Expected(expected)| {
            Missing::malformed("/proc/sys/kernel/osrelease", release, expected)
        })
    }
}

/// Parses the first two numbers of a release, `5.14` of 5.14.0-427.el9.
pub fn version(release: &str) -> Result<(u32, u32), Expected> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Ok((major, minor)),
        _ => Err(Expected("a release like 6.1.0")),
    }
}

/// Parses /proc/uptime: seconds since boot, then idle seconds.
pub fn uptime(text: &str) -> Result<Duration, Expected> {
    let seconds = trimmed(text).split(' ').next().and_then(|first| first.parse().ok());
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or(Expected("seconds since boot"))
}

/// Parses the fourth word of /proc/loadavg, `1/234`: runnable threads of all threads (proc_loadavg(5)).
pub fn runnable(text: &str) -> Result<u64, Expected> {
    let word = trimmed(text).split(' ').nth(3).and_then(|it| it.split_once('/'));
    word.and_then(|(runnable, _)| runnable.parse().ok()).ok_or(Expected("runnable/all threads"))
}

/// The boot line of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootLine(String);

impl BootLine {
    /// Takes the text of /proc/cmdline.
    pub fn new(text: &str) -> BootLine {
        BootLine(trimmed(text).to_owned())
    }

    /// The whole boot line, as /proc/cmdline has it.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether the parameter is present, with or without a value.
    pub fn has(&self, name: &str) -> bool {
        self.parameters().any(|(key, _)| same(key, name))
    }

    /// The value of the last occurrence, which for most parameters is the one that counts.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values(name).last()
    }

    /// All values of the parameter, in order.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.parameters().filter(move |(key, _)| same(key, name)).filter_map(|(_, value)| value)
    }

    /// The kernel's parameters, split at the first `=`. Quotes may enclose a value, or a name with its value
    /// (lib/cmdline.c, `next_arg`).
    pub fn parameters(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let mut quoted = false;
        self.0
            .split(move |c: char| {
                quoted ^= c == '"';
                c.is_whitespace() && !quoted
            })
            .filter(|word| !word.is_empty())
            .take_while(|&word| word != "--")
            .map(|word| match word.split_once('=') {
                Some((key, value)) => (key.trim_matches('"'), Some(value.trim_matches('"'))),
                None => (word.trim_matches('"'), None),
            })
    }
}

fn same(key: &str, name: &str) -> bool {
    let plain = |c| if c == '-' { '_' } else { c };
    key.chars().map(plain).eq(name.chars().map(plain))
}

/// Settings of the running kernel in /proc/sys.
#[derive(Clone, Debug, PartialEq)]
pub struct Sysctls {
    /// `kernel.nmi_watchdog`: whether the hard lockup detector runs.
    pub nmi_watchdog: Fact<bool>,
    /// `kernel.watchdog_cpumask`: the CPUs that the lockup detectors watch.
    pub watchdog_cpumask: Fact<CpuSet>,
    /// `kernel.timer_migration`: whether timers of idle CPUs may move to busy ones.
    pub timer_migration: Fact<bool>,
    /// `kernel.split_lock_mitigate`: whether a split lock puts its process to sleep (x86, since 6.2).
    pub split_lock_mitigate: Fact<bool>,
    /// `vm.stat_interval`: seconds between two updates of the memory statistics from those of each CPU.
    pub stat_interval: Fact<u64>,
}

/// Parses a switch. Watchdogs show the number that was written: every number but 0 is on.
pub fn not_zero(text: &str) -> Result<bool, Expected> {
    signed(text).map(|value| value != 0)
}

/// The folder of the clock source.
pub const CLOCKSOURCE_FOLDER: &str = "/sys/devices/system/clocksource/clocksource0";

/// The clock source in use, and those that could be.
#[derive(Clone, Debug, PartialEq)]
pub struct Clocksource {
    /// `current_clocksource`: tsc, kvm-clock, hpet, acpi_pm.
    pub current: Fact<String>,
    /// `available_clocksource`. A tsc that the kernel has found unstable is not among them.
    pub available: Fact<Vec<String>>,
}

impl Clocksource {
    /// Whether `name` could be chosen.
    pub fn offers(&self, name: &str) -> bool {
        self.available.as_ref().is_ok_and(|names| names.iter().any(|it| it == name))
    }
}

/// The folder with a file for each fault.
pub const VULNERABILITIES_FOLDER: &str = "/sys/devices/system/cpu/vulnerabilities";

/// A fault of processors, and how this machine stands to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Vulnerability {
    /// The kernel's name: `spectre_v2`.
    pub name: String,
    /// The kernel's words: `Not affected`, `Vulnerable`, `Mitigation: Retpolines; IBPB: conditional`.
    pub state: Fact<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runnable_threads_are_the_first_number_of_the_fourth_word() {
        assert_eq!(runnable("0.20 0.18 0.12 3/80 11206\n"), Ok(3));
        assert_eq!(runnable("0.20 0.18 0.12\n"), Err(Expected("runnable/all threads")));
    }

    #[test]
    fn an_uptime_that_is_no_time_is_refused() {
        assert_eq!(uptime("36020.49 140000.00\n"), Ok(Duration::from_millis(36_020_490)));
        assert_eq!(uptime("-1 0"), Err(Expected("seconds since boot")));
        assert_eq!(uptime("NaN"), Err(Expected("seconds since boot")));
    }

    #[test]
    fn names_ignore_dashes_and_the_last_value_wins() {
        let line = BootLine::new("quiet intel-idle.max_cstate=1 nohz_full=1 nohz_full=2-3\n");
        assert_eq!(line.value("intel_idle.max_cstate"), Some("1"));
        assert_eq!(line.value("nohz_full"), Some("2-3"));
        assert!(line.has("quiet") && !line.has("qui"));
    }

    #[test]
    fn quotes_protect_spaces_and_init_keeps_its_own() {
        let line = BootLine::new("dyndbg=\"file a.c +p\" nohz_full=1 -- idle=poll");
        assert_eq!(line.value("dyndbg"), Some("file a.c +p"));
        assert!(line.has("nohz_full") && !line.has("idle"));
    }

    #[test]
    fn quotes_around_a_whole_parameter_are_no_part_of_it() {
        let line = BootLine::new("\"isolcpus=1 2\" \"quiet\"");
        let parameters: Vec<_> = line.parameters().collect();
        assert_eq!(parameters, [("isolcpus", Some("1 2")), ("quiet", None)]);
    }
}
