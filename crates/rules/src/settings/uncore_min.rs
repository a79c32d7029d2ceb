//! `uncore-min`: the lowest clock of the uncore.
//!
//! Source: Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst;
//! drivers/platform/x86/intel/uncore-frequency/. The processor may run the uncore slower all the same, within its
//! power budget.

use crate::check::Reference;
use crate::setting::{Effect, Planned, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::asked::whole;
use crate::settings::uncore;
use facts::Subjects;

pub(super) const SETTING: Setting = Setting {
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
    reads: &[uncore::MIN, uncore::MAX, uncore::INITIAL_MIN, uncore::INITIAL_MAX],
    looks_at: Subjects::NONE,
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    uncore::set(&SETTING, scene, wanted, uncore::MIN, crosses)
}

fn crosses(khz: u64, max: &str) -> Option<String> {
    let is_below = whole(max).is_some_and(|it| it < khz);
    is_below.then(|| format!("{max}, below the {khz} asked for: raise uncore-max first"))
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn domain(name: &str, min: &str, max: &str) -> String {
        let folder = format!("intel_uncore_frequency/{name}");
        files(&format!(
            "{folder}/min_freq_khz {min}
             {folder}/max_freq_khz {max}
             {folder}/initial_min_freq_khz 800000
             {folder}/initial_max_freq_khz 2400000"
        ))
    }

    fn plan(value: &str, host: &str) -> String {
        planned(&SETTING, value, host).replace("intel_uncore_frequency/", "")
    }

    #[test]
    fn the_lower_limit_is_raised_and_lowered() {
        let host = domain("package_00_die_00", "1200000", "2400000");
        let line = "package_00_die_00/min_freq_khz: 1200000 -> ";
        assert_eq!(plan("max", &host), format!("{line}2400000"));
        assert_eq!(plan("min", &host), format!("{line}800000"));
        assert_eq!(plan("1.2GHz", &host), "nothing");
    }

    #[test]
    fn a_lower_limit_above_the_upper_one_is_refused() {
        let host = domain("package_00_die_00", "1200000", "1600000");
        assert!(
            plan("max", &host).ends_with("below the 2400000 asked for: raise uncore-max first")
        );
        assert!(plan("0", &host).contains(" in steps of 100 MHz: "));
    }

    #[test]
    fn a_limit_that_may_not_be_read_is_unknown() {
        assert_eq!(
            planned(&SETTING, "min", &domain("uncore00", "!denied", "2400000")),
            "unknown: /sys/devices/system/cpu/intel_uncore_frequency/uncore00/min_freq_khz may not be read"
        );
    }
}
