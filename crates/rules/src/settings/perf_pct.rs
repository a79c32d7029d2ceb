//! The limits of the clock that intel_pstate requests, in percent.
//!
//! Source: Documentation/admin-guide/pm/intel_pstate.rst, "Global Attributes in sysfs"; drivers/cpufreq/intel_pstate.c
//! (`store_max_perf_pct`, `store_min_perf_pct`), which clamps a value that it does not accept and reports no error. The
//! files do not exist where limits are per CPU (`intel_pstate=per_cpu_perf_limits`).

use crate::check::Reference;
use crate::setting::{Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::file;
use crate::settings::value::{self, whole};
use facts::{Subject, Subjects};

const MAX: &str = "/sys/devices/system/cpu/intel_pstate/max_perf_pct";
const MIN: &str = "/sys/devices/system/cpu/intel_pstate/min_perf_pct";

/// The highest clock, in percent of the highest turbo clock.
pub(super) const MAX_PERF_PCT: Setting = Setting {
    id: "max-perf-pct",
    title: "the highest clock that intel_pstate asks for",
    doc: "\
## What it changes
`intel_pstate/max_perf_pct`. The highest clock that intel_pstate asks for on any CPU, in percent of the highest turbo
clock.

## What it costs
Below 100, every CPU is slower, whatever its own limits say.

## When to leave it alone
Where a power budget asks for it. The limits of single CPUs (`scaling-max`) are the finer tool.
",
    references: &[Reference {
        title: "Linux: intel_pstate, Global Attributes in sysfs",
        url: "https://docs.kernel.org/admin-guide/pm/intel_pstate.html#global-attributes",
    }],
    takes: "1 to 100",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "a higher clock draws more than in proportion to it",
    after: &["tuner", "intel-pstate-status", "turbo"],
    fixes: &["capped-frequency"],
    reads: &[MAX, MIN],
    looks_at: Subjects::NONE,
    plan: max_perf_pct,
};

fn max_perf_pct(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(MAX_PERF_PCT.id)?;
    let percent = value::number(&MAX_PERF_PCT, wanted, 1..=100)?;
    if let Ok(min) = scene.controls.get(MIN)
        && whole(min).is_some_and(|it| it > percent)
    {
        let text =
            format!("{MIN} is {min}, above the {percent} requested: lower min-perf-pct first");
        return Err(Refusal::Host(text));
    }
    file::set(scene, MAX, &percent.to_string())
}

/// The lowest clock.
pub(super) const MIN_PERF_PCT: Setting = Setting {
    id: "min-perf-pct",
    title: "the lowest clock that intel_pstate asks for",
    doc: "\
## What it changes
`intel_pstate/min_perf_pct`. The lowest clock that intel_pstate asks for on any CPU, in percent of the highest turbo
clock.

## What it costs
Raised, CPUs with little to do run faster than they need, and draw more.

## When to leave it alone
The governor `performance` raises the clock by itself.
",
    references: &[Reference {
        title: "Linux: intel_pstate, Global Attributes in sysfs",
        url: "https://docs.kernel.org/admin-guide/pm/intel_pstate.html#global-attributes",
    }],
    takes: "1 to 100",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "a higher clock draws more than in proportion to it",
    after: &["tuner", "intel-pstate-status", "turbo", "max-perf-pct"],
    fixes: &[],
    reads: &[MIN, MAX],
    looks_at: Subjects::of(&[Subject::Policies, Subject::Limits, Subject::Cpuinfo, Subject::Pstate]),
    plan: min_perf_pct,
};

fn min_perf_pct(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(MIN_PERF_PCT.id)?;
    let percent = value::number(&MIN_PERF_PCT, wanted, 1..=100)?;
    if let Ok(max) = scene.controls.get(MAX)
        && whole(max).is_some_and(|it| it < percent)
    {
        let text =
            format!("{MAX} is {max}, below the {percent} requested: raise max-perf-pct first");
        return Err(Refusal::Host(text));
    }
    if lowest(scene).is_some_and(|it| percent < it) {
        let text = format!(
            "the lowest clock is more than {percent} % of the highest: intel_pstate takes no less"
        );
        return Err(Refusal::Value(text));
    }
    file::set(scene, MIN, &percent.to_string())
}

/// The lowest clock in percent of the highest, as the driver counts it (`min_perf_pct_min` in
/// drivers/cpufreq/intel_pstate.c); not known while turbo is off, which hides the highest.
fn lowest(scene: &Scene<'_>) -> Option<u64> {
    let policy = scene.host.cpufreq.policies.as_ref().ok()?.first()?;
    let (min, max) = (policy.cpuinfo_min.as_ref().ok()?, policy.cpuinfo_max.as_ref().ok()?);
    let is_whole = !scene.host.runs_without_turbo() && max.0 > 0;
    is_whole.then(|| min.khz() * 100 / max.khz().max(1))
}

#[cfg(test)]
mod tests {
    use super::{MAX_PERF_PCT, MIN_PERF_PCT};
    use crate::fixture::planned::{files, planned};

    fn host(max: &str, min: &str) -> String {
        files(&format!("intel_pstate/max_perf_pct {max}\nintel_pstate/min_perf_pct {min}"))
    }

    #[test]
    fn a_limit_below_the_lower_one_is_refused() {
        assert_eq!(
            planned(&MAX_PERF_PCT, "40", &host("100", "50")),
            "refused: /sys/devices/system/cpu/intel_pstate/min_perf_pct is 50, above the 40 requested: lower \
             min-perf-pct first"
        );
    }

    #[test]
    fn what_the_driver_would_clamp_is_refused() {
        assert_eq!(
            planned(&MIN_PERF_PCT, "80", &host("60", "20")),
            "refused: /sys/devices/system/cpu/intel_pstate/max_perf_pct is 60, below the 80 requested: raise \
             max-perf-pct first"
        );
        let clocks = files(
            "online 0
             cpufreq/policy0/affected_cpus 0
             cpufreq/policy0/cpuinfo_min_freq 800000
             cpufreq/policy0/cpuinfo_max_freq 4000000",
        );
        let host = host("100", "50") + &clocks;
        assert!(
            planned(&MIN_PERF_PCT, "19", &host)
                .starts_with("value: the lowest clock is more than 19 %")
        );
        assert_eq!(planned(&MIN_PERF_PCT, "20", &host), "intel_pstate/min_perf_pct: 50 -> 20");
    }
}
