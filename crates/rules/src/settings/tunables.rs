//! What governors can be told, and where: in a folder of each policy, or in one for all
//! (`CPUFREQ_HAVE_GOVERNOR_PER_POLICY`).
//!
//! Source: drivers/cpufreq/cpufreq_{ondemand,conservative,schedutil}.c, whose `store_*` functions give the bounds.
//! The folder, and what it holds, goes with the governor's last policy.

use crate::setting::Scene;
use facts::change::{Target, Write};

/// The folder of tunables that all policies of a governor share is in here.
pub(super) const FOLDER: &str = "/sys/devices/system/cpu/cpufreq";

/// Where tunables are.
pub(super) const FILES: [&str; 6] = [
    "/sys/devices/system/cpu/cpufreq/policy*/ondemand/*",
    "/sys/devices/system/cpu/cpufreq/policy*/conservative/*",
    "/sys/devices/system/cpu/cpufreq/policy*/schedutil/*",
    "/sys/devices/system/cpu/cpufreq/ondemand/*",
    "/sys/devices/system/cpu/cpufreq/conservative/*",
    "/sys/devices/system/cpu/cpufreq/schedutil/*",
];

/// One number that a governor takes.
pub(super) struct Tunable {
    pub(super) governor: &'static str,
    pub(super) name: &'static str,
    /// The lowest and the highest number that the kernel accepts.
    pub(super) accepted: (u64, u64),
}

const fn tunable(governor: &'static str, name: &'static str, from: u64, to: u64) -> Tunable {
    Tunable { governor, name, accepted: (from, to) }
}

const ANY: u64 = u32::MAX as u64;

/// Every tunable that can be written.
pub(super) const TUNABLES: &[Tunable] = &[
    tunable("ondemand", "ignore_nice_load", 0, 1),
    tunable("ondemand", "io_is_busy", 0, 1),
    tunable("ondemand", "powersave_bias", 0, 1000),
    tunable("ondemand", "sampling_down_factor", 1, 100_000),
    tunable("ondemand", "sampling_rate", 1, ANY),
    tunable("ondemand", "up_threshold", 1, 100),
    tunable("conservative", "down_threshold", 1, 99),
    tunable("conservative", "freq_step", 0, 100),
    tunable("conservative", "ignore_nice_load", 0, 1),
    tunable("conservative", "sampling_down_factor", 1, 10),
    tunable("conservative", "sampling_rate", 1, ANY),
    tunable("conservative", "up_threshold", 1, 100),
    tunable("schedutil", "rate_limit_us", 0, ANY),
];

/// The tunables of a governor.
pub(super) fn of(governor: &str) -> impl Iterator<Item = &'static Tunable> {
    TUNABLES.iter().filter(move |it| it.governor == governor)
}

/// What is forgotten when a governor leaves: the tunables in the folder that is named after it in `parent`.
pub(super) fn forgotten(scene: &Scene<'_>, parent: &str, governor: &str) -> Vec<Write> {
    let mut lost: Vec<(&str, String, &str)> = of(governor)
        .filter_map(|tunable| {
            let path = format!("{parent}/{governor}/{}", tunable.name);
            let text = scene.controls.get(&path).ok()?;
            Some((tunable.name, path, text))
        })
        .collect();
    // conservative keeps its thresholds apart: against its own 80 and 20, a high one goes up before the other follows.
    // What is forgotten last is written back first.
    let is_high =
        |(name, _, text): &(&str, String, &str)| *name == "down_threshold" && above_default(text);
    if !lost.iter().any(is_high) {
        lost.reverse();
    }
    lost.into_iter().map(|(_, path, text)| Write::forgotten(Target::control(path), text)).collect()
}

/// Whether the lower threshold of conservative is not below what its upper one starts with
/// (`DEF_FREQUENCY_UP_THRESHOLD` in drivers/cpufreq/cpufreq_conservative.c).
fn above_default(text: &str) -> bool {
    text.parse::<u64>().is_ok_and(|it| it >= 80)
}
