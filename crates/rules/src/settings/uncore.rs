//! The limits of the uncore's clock.
//!
//! Source: Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst;
//! drivers/platform/x86/intel/uncore-frequency/. The processor may still run the uncore slower, within its
//! power budget. Where a die has several clusters (`uncore*`), the folder of the whole die (`package_*`) writes all of
//! them, so that only the clusters are written.

use super::value;
use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use facts::change::{Control, Target, Write, is_same};
use facts::{Hertz, Subjects};

/// The highest clock of it.
pub(super) const UNCORE_MAX: Setting = Setting {
    id: "uncore-max",
    title: "the highest clock of the uncore",
    doc: "\
## What it changes
`max_freq_khz` of every uncore domain: mesh or ring, last-level cache, the way to memory. `max` is the limit that
firmware had set when the driver was loaded.

## What it costs
Raised, power that the cores then lack in a tight budget; lowered, latency of cache and memory grows as the clock
falls.

## When to leave it alone
Where cores are held back by the power limit and work that fits into their own caches: a slower uncore leaves them
more.
",
    references: &[Reference {
        title: "Linux: Intel Uncore Frequency Scaling",
        url: "https://docs.kernel.org/admin-guide/pm/intel_uncore_frequency_scaling.html",
    }],
    takes: "a clock such as 2.4GHz, `min` or `max`",
    scope: Scope::Package,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "a faster uncore takes from the power budget of the cores",
    after: &["tuner"],
    fixes: &["uncore-capped"],
    reads: &[MIN, MAX, INITIAL_MIN, INITIAL_MAX],
    looks_at: Subjects::NONE,
    plan: |scene, wanted| set(&UNCORE_MAX, scene, wanted, MAX),
};

/// The lowest clock of it.
pub(super) const UNCORE_MIN: Setting = Setting {
    id: "uncore-min",
    title: "the lowest clock of the uncore",
    doc: "\
## What it changes
`min_freq_khz` of every uncore domain: mesh or ring, last-level cache, the way to memory. Raised to `max`, the uncore
no longer slows down between bursts of work.

## What it costs
Raised, idle power of the package, and power that the cores then lack in a tight budget.

## When to leave it alone
Where the load is even: the uncore follows it by itself.
",
    references: &[Reference {
        title: "Linux: Intel Uncore Frequency Scaling",
        url: "https://docs.kernel.org/admin-guide/pm/intel_uncore_frequency_scaling.html",
    }],
    takes: "a clock such as 2.4GHz, `min` or `max`",
    scope: Scope::Package,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "a faster uncore takes from the power budget of the cores",
    after: &["tuner", "uncore-max"],
    fixes: &[],
    reads: &[MIN, MAX, INITIAL_MIN, INITIAL_MAX],
    looks_at: Subjects::NONE,
    plan: |scene, wanted| set(&UNCORE_MIN, scene, wanted, MIN),
};

/// The lower limits, and what the driver found of them when it was loaded.
const MIN: &str = "/sys/devices/system/cpu/intel_uncore_frequency/*/min_freq_khz";
const INITIAL_MIN: &str = "/sys/devices/system/cpu/intel_uncore_frequency/*/initial_min_freq_khz";
/// The upper ones.
const MAX: &str = "/sys/devices/system/cpu/intel_uncore_frequency/*/max_freq_khz";
const INITIAL_MAX: &str = "/sys/devices/system/cpu/intel_uncore_frequency/*/initial_max_freq_khz";

/// One limit of every domain, which may not cross the other one.
fn set(
    setting: &Setting,
    scene: &Scene<'_>,
    wanted: &Wanted<'_>,
    pattern: &'static str,
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
        no_crossing(pattern, khz, &other, scene.controls.get(&other)?)?;
        writes.push(Write::of(Target::control(control.path), from, khz.to_string()));
    }
    Ok(Change::of(writes))
}

/// Refuses an upper limit below the lower one, and a lower one above the upper one.
fn no_crossing(pattern: &str, khz: u64, other: &str, holds: &str) -> Result<(), Refusal> {
    let (side, first) = match value::whole(holds) {
        Some(min) if pattern == MAX && min > khz => ("above", "lower uncore-min first"),
        Some(max) if pattern == MIN && max < khz => ("below", "raise uncore-max first"),
        _ => return Ok(()),
    };
    Err(Refusal::Host(format!("{other} is {holds}, {side} the {khz} requested: {first}")))
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

/// The requested clock, within the limits that firmware had set.
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
        value::clock(text).ok_or_else(|| {
            Refusal::Host(format!("{path} holds {text:?}, expected a frequency in kHz"))
        })
    };
    let (lowest, highest) = (initial("initial_min_freq_khz")?, initial("initial_max_freq_khz")?);
    let clock = match wanted.value {
        "min" => lowest,
        "max" => highest,
        text => value::clock(text).ok_or_else(|| wanted.not_taken(setting))?,
    };
    if !(lowest..=highest).contains(&clock) || !clock.khz().is_multiple_of(STEP) {
        let text = format!(
            "{folder} runs from {lowest} to {highest} in steps of 100 MHz: {clock} is none of these"
        );
        return Err(Refusal::Value(text));
    }
    Ok(clock)
}

#[cfg(test)]
mod tests {
    use super::{UNCORE_MAX, UNCORE_MIN};
    use crate::fixture::planned::{files, planned};
    use crate::setting::Setting;

    fn domain(name: &str, min: &str, max: &str) -> String {
        let folder = format!("intel_uncore_frequency/{name}");
        files(&format!(
            "{folder}/min_freq_khz {min}
             {folder}/max_freq_khz {max}
             {folder}/initial_min_freq_khz 800000
             {folder}/initial_max_freq_khz 2400000"
        ))
    }

    fn plan(setting: &Setting, value: &str, host: &str) -> String {
        planned(setting, value, host).replace("intel_uncore_frequency/", "")
    }

    #[test]
    fn a_limit_is_a_clock_or_one_of_the_firmwares() {
        let host = domain("package_00_die_00", "1200000", "1600000");
        let line = "package_00_die_00/max_freq_khz: 1600000 -> ";
        assert_eq!(plan(&UNCORE_MAX, "max", &host), format!("{line}2400000"));
        assert_eq!(plan(&UNCORE_MAX, "2.0GHz", &host), format!("{line}2000000"));
        let line = "package_00_die_00/min_freq_khz: 1200000 -> ";
        assert_eq!(plan(&UNCORE_MIN, "min", &host), format!("{line}800000"));
        assert_eq!(plan(&UNCORE_MIN, "1.6GHz", &host), format!("{line}1600000"));
    }

    #[test]
    fn clusters_are_written_and_not_their_die_as_well() {
        let host = domain("package_00_die_00", "800000", "1600000")
            + &domain("uncore00", "800000", "1600000")
            + &domain("uncore01", "800000", "2400000");
        assert_eq!(plan(&UNCORE_MAX, "max", &host), "uncore00/max_freq_khz: 1600000 -> 2400000");
    }

    #[test]
    fn a_clock_beyond_the_firmwares_or_the_other_limit_is_refused() {
        let host = domain("package_00_die_00", "1200000", "1600000");
        for value in ["2.5GHz", "2.05GHz", "700MHz", "0"] {
            for setting in [&UNCORE_MAX, &UNCORE_MIN] {
                assert!(plan(setting, value, &host).contains(" in steps of 100 MHz: "), "{value}");
            }
        }
        let first = "above the 1000000 requested: lower uncore-min first";
        assert!(plan(&UNCORE_MAX, "1GHz", &host).ends_with(first));
        let first = "below the 2400000 requested: raise uncore-max first";
        assert!(plan(&UNCORE_MIN, "max", &host).ends_with(first));
    }
}
