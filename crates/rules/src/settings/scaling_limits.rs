//! The limits of the clock that may be requested, of each cpufreq policy.
//!
//! Source: Documentation/admin-guide/pm/cpufreq.rst, "Policy Interface in sysfs"; drivers/cpufreq/cpufreq.c.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::scaling::{self, End, MAX_PCT};
use crate::settings::value;
use facts::{CpuSet, Missing};

const MAX: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq";
const MIN: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq";

/// The highest clock. Its file shows the lowest of all upper limits; no file says who requested which. Nor does a file say
/// whether this kernel keeps a limit while the CPUs are offline, which some from 6.15 on do not.
pub(super) const SCALING_MAX: Setting = Setting {
    id: "scaling-max",
    title: "the highest clock that may be requested",
    doc: "\
## What it changes
`scaling_max_freq` of every cpufreq policy: `2.4GHz`, `2400MHz`, a number of kHz, `min`, `nominal`, or `max`, the
highest that the driver asks for. Where a table of clocks counts, the next lower one of the table is taken.

## What it costs
Raised, power; lowered, speed. On drivers that ask for the nominal clock and leave turbo to the processor
(acpi-cpufreq), a limit below the nominal clock ends turbo too.

## When to leave it alone
While firmware or a cooling device holds the clock down: the limit that the file then shows is theirs, and bringing it
back would make it last. It is refused then, and where `max_perf_pct` of intel_pstate in passive mode may be what the
file shows: set `max-perf-pct` first.
",
    references: &[Reference {
        title: "Linux: CPU Performance Scaling, Policy Interface in sysfs",
        url: "https://docs.kernel.org/admin-guide/pm/cpufreq.html#policy-interface-in-sysfs",
    }],
    takes: "a clock such as 2.4GHz, `min`, `nominal` or `max`",
    scope: Scope::Policy,
    effect: Effect::AtOnce,
    survives: Survives { reboot: false, hotplug: false, suspend: false },
    risk: Risk::Low,
    power: "a higher clock draws more than in proportion to it",
    after: &["tuner", "cpu-online", "intel-pstate-status", "amd-pstate-status", "turbo", "governor", "max-perf-pct", "min-perf-pct"],
    fixes: &["capped-frequency", "mixed-frequency-settings"],
    reads: &[MAX, MIN, MAX_PCT],
    looks_at: scaling::LOOKS_AT.and(scaling::LIMITS_LOOK_AT),
    plan: scaling_max,
};

fn scaling_max(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    let (mut writes, mut cpus) = (Vec::new(), CpuSet::default());
    for file in scaling::policies(scene, wanted, MAX)? {
        let Some(policy) = scaling::of_host(scene, file.folder()) else {
            return Err(Refusal::Unknown(Missing::absent(file.folder())));
        };
        let khz = scaling::wanted(&SCALING_MAX, scene, wanted, policy, End::Max)?.khz();
        let Some(write) = file.write(&khz.to_string()) else { continue };
        scaling::no_passing_limit(scene, policy)?;
        let min = file.beside("scaling_min_freq");
        let lowest = scene.controls.get(&min)?;
        // Kernels before 5.3 refuse a maximum below the minimum, and later ones give neither what it asks for.
        if value::whole(lowest).is_some_and(|it| it > khz) {
            let text = format!(
                "{min} is {lowest}, above the {khz} requested: lower scaling-min first, or ask for more"
            );
            return Err(Refusal::Host(text));
        }
        writes.push(write);
        cpus.extend(policy.cpus.iter());
    }
    Ok(scaling::turbo_note(scene, &cpus).into_iter().fold(Change::of(writes), Change::note))
}

/// The lowest clock. The hardware may still run below it when it is hot or its power is limited.
pub(super) const SCALING_MIN: Setting = Setting {
    id: "scaling-min",
    title: "the lowest clock that may be requested",
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
    looks_at: scaling::LOOKS_AT.and(scaling::LIMITS_LOOK_AT),
    plan: scaling_min,
};

fn scaling_min(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    let mut writes = Vec::new();
    for file in scaling::policies(scene, wanted, MIN)? {
        let Some(policy) = scaling::of_host(scene, file.folder()) else {
            return Err(Refusal::Unknown(Missing::absent(file.folder())));
        };
        let khz = scaling::wanted(&SCALING_MIN, scene, wanted, policy, End::Min)?.khz();
        let max = file.beside("scaling_max_freq");
        let highest = scene.controls.get(&max)?;
        if value::whole(highest).is_some_and(|it| it < khz) {
            let text = format!(
                "{max} is {highest}, below the {khz} requested: raise scaling-max first, or ask for less"
            );
            return Err(Refusal::Host(text));
        }
        writes.extend(file.write(&khz.to_string()));
    }
    Ok(Change::of(writes))
}

#[cfg(test)]
mod tests {
    use super::{SCALING_MAX, SCALING_MIN};
    use crate::fixture::planned::{files, planned};

    fn host(min: u32, max: &str) -> String {
        files(&format!(
            "cpufreq/policy0/affected_cpus 0
             cpufreq/policy0/scaling_driver intel_cpufreq
             cpufreq/policy0/cpuinfo_min_freq 1000000
             cpufreq/policy0/cpuinfo_max_freq 3600000
             cpufreq/policy0/base_frequency 2400000
             cpufreq/policy0/scaling_min_freq {min}
             cpufreq/policy0/scaling_max_freq {max}"
        ))
    }

    fn plan(value: &str, host: &str) -> String {
        planned(&SCALING_MAX, value, host).replace("cpufreq/policy0/", "")
    }

    #[test]
    fn a_cap_is_lifted_and_set_in_any_unit() {
        let capped = host(1_000_000, "1600000");
        assert_eq!(plan("max", &capped), "scaling_max_freq: 1600000 -> 3600000");
        assert_eq!(plan("nominal", &capped), "scaling_max_freq: 1600000 -> 2400000");
        assert_eq!(plan("2.1GHz", &capped), "scaling_max_freq: 1600000 -> 2100000");
    }

    #[test]
    fn an_upper_limit_below_the_lower_one_is_refused_with_what_to_do() {
        assert_eq!(
            planned(&SCALING_MAX, "1.2GHz", &host(2_000_000, "3600000")),
            "refused: /sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq is 2000000, above the 1200000 requested: \
             lower scaling-min first, or ask for more"
        );
    }

    #[test]
    fn a_table_of_clocks_rounds_down() {
        let host = host(1_000_000, "2400000").replace("intel_cpufreq", "acpi-cpufreq")
            + &files(
                "cpufreq/policy0/scaling_available_frequencies 2401000 2400000 2000000 1000000",
            );
        assert_eq!(plan("2.3GHz", &host), "scaling_max_freq: 2400000 -> 2000000");
    }

    #[test]
    fn a_clock_that_the_processor_does_not_have_is_refused() {
        assert_eq!(
            plan("5GHz", &host(1_000_000, "3600000")),
            "value: /sys/devices/system/cpu/cpufreq/policy0 runs from 1000 MHz to 3600 MHz, and not at 5000 MHz"
                .replace("cpufreq/policy0/", "")
        );
    }

    #[test]
    fn a_passing_limit_is_never_taken_for_somebodys_wish() {
        let capped = host(1_000_000, "1600000");
        let firmware = capped.clone() + &files("cpufreq/policy0/bios_limit 1600000");
        assert!(plan("max", &firmware).starts_with("refused: firmware keeps "));
        let cooling = "/sys/class/thermal/cooling_device0";
        let hot = capped
            + &files(&format!(
                "{cooling}/type Processor\n{cooling}/cur_state 2\n{cooling}/max_state 3"
            ));
        assert!(plan("max", &hot).starts_with(&format!("refused: {cooling}/cur_state cools")));
    }

    #[test]
    fn a_percentage_of_the_driver_is_never_taken_for_somebodys_wish() {
        let capped = host(1_000_000, "1600000");
        let percent = |percent: u32| files(&format!("intel_pstate/max_perf_pct {percent}"));
        assert!(
            plan("max", &(capped.clone() + &percent(50))).ends_with("set max-perf-pct=100 first")
        );
        let whole = capped.clone() + &percent(100);
        assert_eq!(plan("max", &whole), "scaling_max_freq: 1600000 -> 3600000");
        let active = capped.replace("intel_cpufreq", "intel_pstate") + &percent(50);
        assert_eq!(plan("max", &active), "scaling_max_freq: 1600000 -> 3600000");
    }

    #[test]
    fn a_lower_limit_above_the_upper_one_is_refused_with_what_to_do() {
        assert_eq!(
            planned(&SCALING_MIN, "2GHz", &host(1_000_000, "1600000")),
            "refused: /sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq is 1600000, below the 2000000 requested: \
             raise scaling-max first, or ask for less"
        );
    }

    #[test]
    fn a_nominal_clock_that_nobody_names_is_refused() {
        assert_eq!(
            planned(
                &SCALING_MIN,
                "nominal",
                &host(1_000_000, "3600000").replace("base_frequency", "other")
            ),
            "refused: the nominal clock is unknown"
        );
    }
}
