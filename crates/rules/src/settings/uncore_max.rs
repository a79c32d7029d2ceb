//! `uncore-max`: the highest clock of the uncore.
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
    reads: &[uncore::MIN, uncore::MAX, uncore::INITIAL_MIN, uncore::INITIAL_MAX],
    looks_at: Subjects::NONE,
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    uncore::set(&SETTING, scene, wanted, uncore::MAX, crosses)
}

fn crosses(khz: u64, min: &str) -> Option<String> {
    let is_above = whole(min).is_some_and(|it| it > khz);
    is_above.then(|| format!("{min}, above the {khz} asked for: lower uncore-min first"))
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
    fn the_firmwares_limit_comes_back() {
        let host = domain("package_00_die_00", "800000", "1600000");
        let line = "package_00_die_00/max_freq_khz: 1600000 -> ";
        assert_eq!(plan("max", &host), format!("{line}2400000"));
        assert_eq!(plan("2.0GHz", &host), format!("{line}2000000"));
        assert_eq!(plan("1600MHz", &host), "nothing");
    }

    #[test]
    fn clusters_are_written_and_not_their_die_as_well() {
        let host = domain("package_00_die_00", "800000", "1600000")
            + &domain("uncore00", "800000", "1600000")
            + &domain("uncore01", "800000", "2400000");
        assert_eq!(plan("max", &host), "uncore00/max_freq_khz: 1600000 -> 2400000");
    }

    #[test]
    fn a_clock_beyond_the_firmwares_or_below_the_lower_limit_is_refused() {
        let host = domain("package_00_die_00", "1200000", "1600000");
        for value in ["2.5GHz", "2.05GHz", "700MHz"] {
            assert!(plan(value, &host).contains(" in steps of 100 MHz: "), "{value}");
        }
        assert!(
            plan("1GHz", &host).ends_with("above the 1000000 asked for: lower uncore-min first")
        );
        assert!(plan("fast", &host).starts_with("value: uncore-max takes a clock"));
        assert!(plan("max", "").starts_with("refused: this kernel has no "));
    }

    #[test]
    fn a_limit_that_may_not_be_read_is_unknown() {
        assert_eq!(
            planned(&SETTING, "max", &domain("uncore00", "800000", "!denied")),
            "unknown: /sys/devices/system/cpu/intel_uncore_frequency/uncore00/max_freq_khz may not be read"
        );
    }
}
