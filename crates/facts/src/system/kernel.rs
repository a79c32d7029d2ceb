//! The running kernel: release, boot line, time since boot, configuration.

use super::boot_line::BootLine;
use super::kernel_config::KernelConfig;
use crate::parse::{Expected, trimmed};
use crate::{Fact, Missing};
use std::time::Duration;

/// The running kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// `uname -r`: 6.1.0-49-amd64.
    pub release: Fact<String>,
    /// The boot line.
    pub boot_line: Fact<BootLine>,
    /// Time since boot.
    pub uptime: Fact<Duration>,
    /// How many threads ran or waited for a CPU when this was read, the reader's own among them.
    pub runnable: Fact<u64>,
    /// How it was built, where it keeps a copy of that.
    pub config: Fact<KernelConfig>,
    /// The preemption model in force; [`Kernel::preemption`] also answers without it.
    pub preempt_mode: Fact<String>,
}

impl Kernel {
    /// The first two numbers of the release, for "since 5.19" judgements. A distribution backports, so
    /// prefer looking at what the kernel does.
    pub fn version(&self) -> Result<(u32, u32), Missing> {
        let release = self.release.as_ref()?;
        let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Ok((major, minor)),
            _ => Err(Missing::malformed(
                "/proc/sys/kernel/osrelease",
                release,
                "a release like 6.1.0",
            )),
        }
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
}
