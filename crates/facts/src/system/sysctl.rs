//! The kernel's settings in /proc/sys that the checks ask for.
//!
//! Source: Documentation/admin-guide/sysctl/kernel.rst and vm.rst.

use crate::parse::{Expected, signed};
use crate::{CpuSet, Fact};

/// Settings of the running kernel.
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
    /// `vm.stat_interval`: seconds between two folds of the per-CPU memory statistics.
    pub stat_interval: Fact<u64>,
}

/// A number that the kernel prints for a switch; watchdogs print what was written, so anything but 0 is on.
pub fn not_zero(text: &str) -> Result<bool, Expected> {
    signed(text).map(|value| value != 0)
}
