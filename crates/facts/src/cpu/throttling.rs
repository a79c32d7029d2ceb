//! How often and how long the processor held its clock down because it was too hot, as the kernel counts it.
//!
//! Source: drivers/thermal/intel/therm_throt.c, /sys/devices/system/cpu/cpuN/thermal_throttle. It counts
//! interrupts in which bit 0 of 0x19C (core) or 0x1B1 (package) was set, since boot. Not in it: PROCHOT# from
//! outside, current and power limits, clock modulation. Time is counted only for events within 10 degrees
//! of the limit. Where firmware keeps the thermal interrupt for itself, the folder does not exist.
//!
//! On bare-metal POWER the chip's own controller (OCC) lowers the highest clock, and the kernel counts its reasons in
//! cpuN/cpufreq/throttle_stats (Documentation/ABI/testing/sysfs-devices-system-cpu; drivers/cpufreq/powernv-cpufreq.c).

use crate::{Fact, PerCpu};
use std::time::Duration;

/// Thermal throttling since boot.
///
/// The threads of a core count the same events, and so do the CPUs of a package: each is kept once, by its
/// lowest CPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Throttling {
    /// Events of each core.
    pub cores: PerCpu<Throttled>,
    /// Events of each package; on POWER those that the OCC calls `overtemp`.
    pub packages: PerCpu<Throttled>,
    /// On POWER, the other reasons of the OCC, by package; no CPU is asked elsewhere.
    pub occ: PerCpu<Vec<OccReason>>,
}

/// How often the on-chip controller of a POWER processor lowered the highest clock for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OccReason {
    /// Its file: `powercap`, `supply_fault`, `overcurrent` or `occ_reset`.
    pub path: String,
    /// What it says, in words that "lowered the highest clock" can follow.
    pub name: &'static str,
    /// Since boot.
    pub events: u64,
}

/// The files in `throttle_stats` other than `overtemp`, and what they say.
pub const OCC_REASONS: [(&str, &str); 4] = [
    ("supply_fault", "a failed power supply"),
    ("powercap", "a power cap"),
    ("overcurrent", "a limit of electrical current"),
    ("occ_reset", "a reset of the on-chip controller (OCC)"),
];

/// One counter's events.
#[derive(Clone, Debug, PartialEq)]
pub struct Throttled {
    /// Its file, for evidence.
    pub path: String,
    /// `*_throttle_count`.
    pub events: u64,
    /// `*_throttle_total_time_ms` (Linux 5.6 and later), read where there were events.
    pub total: Fact<Duration>,
}
