//! What the settings of the uncore's clock share: which domains are meant, and which clock.
//!
//! Source: Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst. Where a die has several clusters
//! (`uncore*`), the folder of the whole die (`package_*`) writes all of them, so that only the clusters are written.

use super::asked;
use crate::setting::{Change, Planned, Refusal, Scene, Setting, Wanted};
use facts::Hertz;
use facts::change::{Control, Target, Write, is_same};

/// The lower limits, and what the driver found of them when it was loaded.
pub(super) const MIN: &str = "/sys/devices/system/cpu/intel_uncore_frequency/*/min_freq_khz";
pub(super) const INITIAL_MIN: &str =
    "/sys/devices/system/cpu/intel_uncore_frequency/*/initial_min_freq_khz";
/// The upper ones.
pub(super) const MAX: &str = "/sys/devices/system/cpu/intel_uncore_frequency/*/max_freq_khz";
pub(super) const INITIAL_MAX: &str =
    "/sys/devices/system/cpu/intel_uncore_frequency/*/initial_max_freq_khz";

/// One limit of every domain; `crosses` says what is wrong with a clock beside the other limit.
pub(super) fn set(
    setting: &Setting,
    scene: &Scene<'_>,
    wanted: &Wanted<'_>,
    pattern: &'static str,
    crosses: fn(u64, &str) -> Option<String>,
) -> Planned {
    wanted.for_the_host(setting.id)?;
    let controls = domains(scene, pattern);
    if controls.is_empty() {
        let text = format!(
            "this kernel has no {pattern}: modprobe intel-uncore-frequency, where the processor allows it"
        );
        return Err(Refusal::Host(text));
    }
    let other = if pattern == MIN { "max_freq_khz" } else { "min_freq_khz" };
    let mut writes = Vec::new();
    for control in controls {
        let folder = control.path.rsplit_once('/').map_or(control.path, |(folder, _)| folder);
        let khz = clock(setting, scene, wanted, folder)?.khz();
        let from = control.text.clone()?;
        if is_same(from, &khz.to_string()) {
            continue;
        }
        let other = format!("{folder}/{other}");
        if let Some(text) = crosses(khz, scene.controls.get(&other)?) {
            return Err(Refusal::Host(format!("{other} is {text}")));
        }
        writes.push(Write::of(Target::control(control.path), from, khz.to_string()));
    }
    Ok(Change::of(writes))
}

/// The clusters where there are some, else the dies.
fn domains<'a>(scene: &'a Scene<'_>, pattern: &'static str) -> Vec<Control<'a>> {
    let mut all = scene.controls.matching(pattern);
    if all.iter().any(|it| is_cluster(it)) {
        all.retain(is_cluster);
    }
    all
}

fn is_cluster(control: &Control<'_>) -> bool {
    control.stars.first().is_some_and(|it| it.starts_with("uncore"))
}

/// The clock that is asked for, within the limits that firmware had set.
fn clock(
    setting: &Setting,
    scene: &Scene<'_>,
    wanted: &Wanted<'_>,
    folder: &str,
) -> Result<Hertz, Refusal> {
    /// The ratio counts in these steps (`UNCORE_FREQ_KHZ_MULTIPLIER` of the driver).
    const STEP: u64 = 100_000;
    let initial = |file: &str| -> Result<Hertz, Refusal> {
        let path = format!("{folder}/{file}");
        let text = scene.controls.get(&path)?;
        asked::clock(text).ok_or_else(|| {
            Refusal::Host(format!("{path} holds {text:?}, expected a frequency in kHz"))
        })
    };
    let (lowest, highest) = (initial("initial_min_freq_khz")?, initial("initial_max_freq_khz")?);
    let clock = match wanted.value {
        "min" => lowest,
        "max" => highest,
        text => asked::clock(text).ok_or_else(|| wanted.not_taken(setting))?,
    };
    if !(lowest..=highest).contains(&clock) || !clock.khz().is_multiple_of(STEP) {
        let text = format!(
            "{folder} runs from {lowest} to {highest} in steps of 100 MHz: {clock} is none of these"
        );
        return Err(Refusal::Value(text));
    }
    Ok(clock)
}
