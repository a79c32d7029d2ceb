//! Who chooses what runs next, and what the scheduler holds back: schedulers of sched_ext, clamps of utilization, core scheduling, and
//! the servers that keep real-time tasks from starving others.
//!
//! Sources: kernel/sched/ext.c (`scx_enable_state_str`, `scx_attr_ops_show`; the folder exists since Linux 6.12 with
//! CONFIG_SCHED_CLASS_EXT); kernel/sched/core.c (`cpu_uclamp_print`, `uclamp_eff_get`); kernel/cgroup/rstat.c
//! (`cgroup_force_idle_show`, `root_cgroup_cputime`); kernel/sched/debug.c (`debugfs_fair_server_init`; nanoseconds).

use crate::parse::{Expected, number, trimmed};
use crate::system::process::Process;
use crate::{Fact, Missing, PerCpu};
use std::time::Duration;

/// Where sched_ext says whether it is in force, and whose.
pub const SCHED_EXT: &str = "/sys/kernel/sched_ext";

/// The servers of the fair class, a folder `cpuN` for each CPU: readable by root only, and not under lockdown.
pub const FAIR_SERVERS: &str = "/sys/kernel/debug/sched/fair_server";

/// The utilization that no task may go beyond, of [`FULL_UTILIZATION`].
pub const CLAMP_OF_ALL: &str = "/proc/sys/kernel/sched_util_clamp_max";

/// SCHED_CAPACITY_SCALE: the utilization of a CPU that is busy all the time, at its highest clock.
pub const FULL_UTILIZATION: u64 = 1024;

/// What is in force on the whole host.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheduler {
    /// Whether a scheduler of sched_ext is in force; absent where the kernel has no such schedulers.
    pub ext: Fact<SchedExt>,
    /// What all tasks are clamped to, of [`FULL_UTILIZATION`]; absent where the kernel has no clamps.
    pub clamp_of_all: Fact<u64>,
    /// CPU time by the root group; absent where only version 1 of control groups is mounted.
    pub cpu_time: Fact<CpuTime>,
    /// The servers of the fair class on CPUs that are kept free of other work. Not read where none is.
    pub fair_servers: PerCpu<FairServer>,
}

/// Whether a scheduler of sched_ext is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchedExt {
    /// The kernel's own schedulers are.
    Off,
    /// It is, or is being switched on or off.
    On {
        /// `enabling`, `enabled` or `disabling`.
        state: String,
        /// What it calls itself; it may have gone since.
        name: Fact<String>,
        /// Whether it schedules every normal task, and not only those of the policy SCHED_EXT.
        is_for_all: Fact<bool>,
    },
}

impl SchedExt {
    /// The name, where one is in force.
    pub fn name(&self) -> Option<&str> {
        match self {
            SchedExt::Off => None,
            SchedExt::On { name, .. } => {
                Some(name.as_deref().unwrap_or("a scheduler without a name"))
            }
        }
    }
}

/// Parses `state`, into the state where sched_ext is not off.
pub fn ext_state(text: &str) -> Result<Option<String>, Expected> {
    match trimmed(text) {
        "disabled" => Ok(None),
        // Kernels with the patches for 6.6 to 6.11 had `prepping`, too.
        state @ ("prepping" | "enabling" | "enabled" | "disabling") => Ok(Some(state.to_owned())),
        _ => Err(Expected("enabling, enabled, disabling or disabled")),
    }
}

/// CPU time of a group of version 2 since it was made; of the root group, of the host since boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTime {
    /// For which tasks ran.
    pub usage: Duration,
    /// For which a thread of a core stood still, because what ran on the other one may share the core with none of those that waited
    /// (core scheduling); `None` where the kernel does not count it.
    pub forced_idle: Option<Duration>,
}

impl CpuTime {
    /// Parses `cpu.stat`.
    pub fn parse(text: &str) -> Result<CpuTime, Expected> {
        const USAGE: Expected = Expected("a line usage_usec and a number");
        let field =
            |name: &str| text.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(' '));
        let usage = field("usage_usec").and_then(|it| number(it).ok()).ok_or(USAGE)?;
        let forced = field("core_sched.force_idle_usec").map(number).transpose()?;
        Ok(CpuTime {
            usage: Duration::from_micros(usage),
            forced_idle: forced.map(Duration::from_micros),
        })
    }

    /// The share of the time for which a thread was needed that it was forced to be idle.
    pub fn forced_share(&self) -> Option<f64> {
        let forced = self.forced_idle?.as_secs_f64();
        let needed = forced + self.usage.as_secs_f64();
        (needed > 0.0).then(|| forced / needed)
    }
}

/// What normal tasks of a CPU get although real-time tasks want all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairServer {
    /// So much of each period; zero where the server is off.
    pub runtime: Duration,
    /// The period.
    pub period: Duration,
}

/// The control groups whose tasks may not ask for the highest clock: `cpu.uclamp.max` is below "max". Not read where no governor looks
/// at it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClampedGroups {
    /// They, groups above before those in them.
    pub list: Vec<ClampedGroup>,
    /// The first reason why some group could not be looked at.
    pub missing: Option<Missing>,
}

/// A group that is clamped by itself; what is above it may clamp it further.
#[derive(Clone, Debug, PartialEq)]
pub struct ClampedGroup {
    /// Its folder.
    pub folder: String,
    /// The utilization that its tasks may not go beyond, in percent of a CPU that is busy at its highest clock.
    pub percent: f64,
    /// How many processes are in it and in the groups below it; 0 where that is unknown, too.
    pub n_processes: usize,
    /// At most three of them: those that have used most CPU time, the most first.
    pub busiest: Vec<Process>,
    /// The database servers among all of them, with their product.
    pub databases: Vec<(Process, &'static str)>,
}

/// Parses `cpu.uclamp.max` or `cpu.uclamp.min`, in percent: "max" is 100, else a number of two decimals.
pub fn clamp(text: &str) -> Result<f64, Expected> {
    const CLAMP: Expected = Expected("max, or a percentage like 12.34");
    let text = trimmed(text);
    if text == "max" {
        return Ok(100.0);
    }
    let is_plain = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    let percent = text.parse::<f64>().ok().filter(|_| is_plain).ok_or(CLAMP)?;
    (0.0..=100.0).contains(&percent).then_some(percent).ok_or(CLAMP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_one_of_the_kernels_words() {
        assert_eq!(ext_state("disabled\n"), Ok(None));
        assert_eq!(ext_state("enabled\n"), Ok(Some("enabled".into())));
        assert!(ext_state("").is_err() && ext_state("on").is_err());
    }

    #[test]
    fn forced_idle_time_is_compared_with_the_time_that_was_needed() {
        let newer = "usage_usec 750000\nuser_usec 1\nsystem_usec 1\nnice_usec 0\ncore_sched.force_idle_usec 250000\nnr_periods 0\n";
        let time = CpuTime::parse(newer).unwrap();
        assert_eq!(
            (time.forced_idle, time.forced_share()),
            (Some(Duration::from_millis(250)), Some(0.25))
        );
        let older = CpuTime::parse("usage_usec 750000\nuser_usec 1\nsystem_usec 1\n").unwrap();
        assert_eq!((older.forced_idle, older.forced_share()), (None, None));
        assert!(CpuTime::parse("nr_periods 0\n").is_err());
        assert!(CpuTime::parse("usage_usec 1\ncore_sched.force_idle_usec x\n").is_err());
        let unused = CpuTime::parse("usage_usec 0\ncore_sched.force_idle_usec 0\n").unwrap();
        assert_eq!(unused.forced_share(), None);
    }

    #[test]
    fn a_clamp_is_a_percentage_or_none() {
        assert_eq!(
            [clamp("max\n"), clamp("12.34\n"), clamp("0.00")],
            [Ok(100.0), Ok(12.34), Ok(0.0)]
        );
        for wrong in ["", "-1", "101", "nan", "1e1", "12.3.4", "inf"] {
            assert!(clamp(wrong).is_err(), "{wrong}");
        }
    }
}
