//! `intel-pstate-status`: whether intel_pstate chooses the clock by itself or lets a governor choose.
//!
//! Sources: Documentation/admin-guide/pm/intel_pstate.rst, "status"; drivers/cpufreq/intel_pstate.c
//! (`intel_pstate_update_status`). A change resets everything that was set of the driver and its policies.

use crate::check::Reference;
use crate::setting::{Change, Effect, Planned, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::{file, lost, reads, tunables};

const STATUS: &str = "/sys/devices/system/cpu/intel_pstate/status";
const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
const MAX_PCT: &str = "/sys/devices/system/cpu/intel_pstate/max_perf_pct";
const MIN_PCT: &str = "/sys/devices/system/cpu/intel_pstate/min_perf_pct";

pub(super) const SETTING: Setting = Setting {
    id: "intel-pstate-status",
    title: "whether intel_pstate or a governor chooses the clock",
    doc: "\
## What it changes
`intel_pstate/status`. `active`: the driver, or with HWP the processor, chooses the clock, and the governor's name is
a hint. `passive`: a governor of the kernel chooses, such as schedutil. What was set before of limits, governors and
preferences is written down and comes back when the change is undone.

## What it costs
All settings of all policies start afresh. The CPUs run on their last clock while the driver changes.

## When to leave it alone
With HWP: the processor follows the load sooner than any governor. `off` is not offered, which would leave the CPUs
with no driver: use `intel_pstate=disable` on the boot line.
",
    references: &[Reference {
        title: "Linux: intel_pstate, Global Attributes in sysfs",
        url: "https://docs.kernel.org/admin-guide/pm/intel_pstate.html#global-attributes",
    }],
    takes: "`active` or `passive`",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Medium,
    power: "by who chooses the clock then",
    after: &["tuner"],
    fixes: &[],
    reads: &reads::joined::<18>(&[&[STATUS, NO_TURBO, MAX_PCT, MIN_PCT], &lost::FILES, &tunables::FILES]),
    looks_at: lost::LOOKS_AT,
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    if !matches!(wanted.value, "active" | "passive") {
        return Err(wanted.not_taken(&SETTING));
    }
    let change = file::set(scene, STATUS, wanted.value)?;
    if change.writes.is_empty() {
        return Ok(change);
    }
    let mut writes = lost::of_policies(scene);
    // Undone backwards: turbo, which the percentages count in, then the upper one, which bounds the lower.
    writes.extend([MIN_PCT, MAX_PCT, NO_TURBO].iter().filter_map(|it| lost::forgotten(scene, it)));
    writes.extend(change.writes);
    Ok(Change::of(writes)
        .note("every cpufreq policy is made anew: governors, limits and preferences start afresh"))
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    const NOTE: &str =
        "note: every cpufreq policy is made anew: governors, limits and preferences start afresh";

    fn host(status: &str) -> String {
        files(&format!(
            "online 0
             intel_pstate/status {status}
             intel_pstate/no_turbo 0
             intel_pstate/max_perf_pct 90
             intel_pstate/min_perf_pct 20
             cpufreq/policy0/affected_cpus 0
             cpufreq/policy0/scaling_driver intel_cpufreq
             cpufreq/policy0/scaling_governor schedutil
             cpufreq/policy0/schedutil/rate_limit_us 500
             cpufreq/policy0/cpuinfo_min_freq 800000
             cpufreq/policy0/cpuinfo_max_freq 4000000
             cpufreq/policy0/scaling_min_freq 1000000
             cpufreq/policy0/scaling_max_freq 4000000"
        ))
    }

    #[test]
    fn what_the_driver_forgets_is_kept_in_the_order_of_undoing_it() {
        let plan = planned(&SETTING, "active", &host("passive"));
        assert_eq!(
            plan.replace("cpufreq/policy0/", "").replace("intel_pstate/", ""),
            format!(
                "scaling_min_freq: 1000000 is forgotten\n\
                 schedutil/rate_limit_us: 500 is forgotten\n\
                 scaling_governor: schedutil is forgotten\n\
                 min_perf_pct: 20 is forgotten\n\
                 max_perf_pct: 90 is forgotten\n\
                 no_turbo: 0 is forgotten\n\
                 status: passive -> active\n{NOTE}"
            )
        );
    }

    #[test]
    fn a_limit_that_heat_has_set_is_not_taken_for_somebodys_wish() {
        let cooling = "/sys/class/thermal/cooling_device0";
        let hot = host("passive").replace("scaling_max_freq\n4000000", "scaling_max_freq\n2000000")
            + &files(&format!(
                "{cooling}/type Processor\n{cooling}/cur_state 2\n{cooling}/max_state 3"
            ));
        assert!(!planned(&SETTING, "active", &hot).contains("scaling_max_freq"));
    }

    #[test]
    fn the_clock_that_a_user_has_set_comes_back_after_the_governor() {
        let host = host("passive").replace("schedutil", "userspace")
            + &files("cpufreq/policy0/scaling_setspeed 2000000");
        let plan = planned(&SETTING, "active", &host);
        assert!(plan.starts_with("cpufreq/policy0/scaling_setspeed: 2000000 is forgotten\n"));
        assert!(
            !planned(&SETTING, "active", &host.replace("userspace", "ondemand"))
                .contains("setspeed")
        );
    }
}
