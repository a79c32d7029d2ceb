//! `max-perf-pct`: the highest clock that intel_pstate asks for, in percent.
//!
//! Source: Documentation/admin-guide/pm/intel_pstate.rst, "Global Attributes in sysfs";
//! drivers/cpufreq/intel_pstate.c (`store_max_perf_pct`), which clamps in silence what it does not accept. The file
//! is not there where limits are per CPU (`intel_pstate=per_cpu_perf_limits`).

use crate::check::Reference;
use crate::setting::{Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::asked::{self, whole};
use crate::settings::file;
use facts::Subjects;

const PATH: &str = "/sys/devices/system/cpu/intel_pstate/max_perf_pct";
const OTHER: &str = "/sys/devices/system/cpu/intel_pstate/min_perf_pct";

pub(super) const SETTING: Setting = Setting {
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
    reads: &[PATH, OTHER],
    looks_at: Subjects::NONE,
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    let percent = asked::number(&SETTING, wanted, 1..=100)?;
    if let Ok(min) = scene.controls.get(OTHER)
        && whole(min).is_some_and(|it| it > percent)
    {
        let text =
            format!("{OTHER} is {min}, above the {percent} asked for: lower min-perf-pct first");
        return Err(Refusal::Host(text));
    }
    file::set(scene, PATH, &percent.to_string())
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn host(max: &str, min: &str) -> String {
        files(&format!("intel_pstate/max_perf_pct {max}\nintel_pstate/min_perf_pct {min}"))
    }

    #[test]
    fn a_limit_below_the_lower_one_is_refused() {
        assert_eq!(
            planned(&SETTING, "40", &host("100", "50")),
            "refused: /sys/devices/system/cpu/intel_pstate/min_perf_pct is 50, above the 40 asked for: lower \
             min-perf-pct first"
        );
    }
}
