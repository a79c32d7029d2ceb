//! `scaling-min`: the lowest clock that may be asked for.
//!
//! Source: Documentation/admin-guide/pm/cpufreq.rst, "Policy Interface in sysfs"; drivers/cpufreq/cpufreq.c. The
//! hardware may run below it all the same when it is hot or its power is limited.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::clocks::{self, End};
use crate::settings::{asked, scaling};
use facts::Missing;

const MIN: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq";
const MAX: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq";

pub(super) const SETTING: Setting = Setting {
    id: "scaling-min",
    title: "the lowest clock that may be asked for",
    doc: "\
## What it changes
`scaling_min_freq` of every cpufreq policy: `1.2GHz`, `1200MHz`, a number of kHz, `min`, `nominal`, or `max`, the
highest that the driver asks for. Where a table of clocks counts, the next higher one of the table is taken.

## What it costs
Raised, CPUs that have little to do run faster than they need and draw more; a CPU in a deep idle state draws no more.

## When to leave it alone
The governor `performance` raises the clock by itself. A lower limit is for governors that start too slowly, and for
the uncertain case in which `performance` may not be chosen.
",
    references: &[Reference {
        title: "Linux: CPU Performance Scaling, Policy Interface in sysfs",
        url: "https://docs.kernel.org/admin-guide/pm/cpufreq.html#policy-interface-in-sysfs",
    }],
    takes: "a clock such as 1.2GHz, `min`, `nominal` or `max`",
    scope: Scope::Policy,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "busy cores with little to do draw more",
    after: &["tuner", "cpu-online", "intel-pstate-status", "amd-pstate-status", "turbo", "governor", "max-perf-pct", "min-perf-pct", "scaling-max"],
    fixes: &[],
    reads: &[MIN, MAX],
    looks_at: scaling::LOOKS_AT.and(clocks::LOOKS_AT),
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    let mut writes = Vec::new();
    for file in scaling::policies(scene, wanted, MIN)? {
        let Some(policy) = scaling::of_host(scene, file.folder()) else {
            return Err(Refusal::Unknown(Missing::absent(file.folder())));
        };
        let khz = clocks::wanted(&SETTING, scene, wanted, policy, End::Min)?.khz();
        let max = file.beside("scaling_max_freq");
        let highest = scene.controls.get(&max)?;
        if asked::whole(highest).is_some_and(|it| it < khz) {
            let text = format!(
                "{max} is {highest}, below the {khz} asked for: raise scaling-max first, or ask for less"
            );
            return Err(Refusal::Host(text));
        }
        writes.extend(file.write(&khz.to_string()));
    }
    Ok(Change::of(writes))
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn host(min: &str, max: u32) -> String {
        files(&format!(
            "cpufreq/policy0/affected_cpus 0
             cpufreq/policy0/scaling_driver intel_cpufreq
             cpufreq/policy0/cpuinfo_min_freq 1000000
             cpufreq/policy0/cpuinfo_max_freq 3600000
             cpufreq/policy0/scaling_min_freq {min}
             cpufreq/policy0/scaling_max_freq {max}"
        ))
    }

    #[test]
    fn a_lower_limit_above_the_upper_one_is_refused_with_what_to_do() {
        assert_eq!(
            planned(&SETTING, "2GHz", &host("1000000", 1_600_000)),
            "refused: /sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq is 1600000, below the 2000000 asked \
             for: raise scaling-max first, or ask for less"
        );
    }

    #[test]
    fn a_nominal_clock_that_nobody_names_is_refused() {
        assert_eq!(
            planned(&SETTING, "nominal", &host("1000000", 3_600_000)),
            "refused: nobody says what the nominal clock is"
        );
    }
}
