//! The mode of intel_pstate and amd-pstate: whether the driver, the processor or a governor chooses the clock.
//!
//! Sources: Documentation/admin-guide/pm/{intel_pstate,amd-pstate}.rst; drivers/cpufreq/{intel_pstate,amd-pstate}.c
//! (`intel_pstate_update_status`; `amd_pstate_update_status`, since Linux 6.3). A change of the mode resets all settings of
//! the driver and its policies, except between passive and guided (`amd_pstate_change_mode_without_dvr_change`).

use crate::check::Reference;
use crate::setting::{Change, Effect, Planned, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::{file, governor_tunable, lost};

const INTEL: &str = "/sys/devices/system/cpu/intel_pstate/status";
const AMD: &str = "/sys/devices/system/cpu/amd_pstate/status";
const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
const MAX_PCT: &str = "/sys/devices/system/cpu/intel_pstate/max_perf_pct";
const MIN_PCT: &str = "/sys/devices/system/cpu/intel_pstate/min_perf_pct";

pub(super) const INTEL_PSTATE_STATUS: Setting = Setting {
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
    reads: &file::joined::<18>(&[&[INTEL, NO_TURBO, MAX_PCT, MIN_PCT], &lost::FILES, &governor_tunable::FILES]),
    looks_at: lost::LOOKS_AT,
    plan: |scene, wanted| {
        // Undone backwards: turbo, which the percentages depend on, then the upper limit, which bounds the lower one.
        let own = [MIN_PCT, MAX_PCT, NO_TURBO];
        set_mode(&INTEL_PSTATE_STATUS, scene, wanted, &["active", "passive"], &own)
    },
};

pub(super) const AMD_PSTATE_STATUS: Setting = Setting {
    id: "amd-pstate-status",
    title: "whether amd-pstate or a governor chooses the clock",
    doc: "\
## What it changes
`amd_pstate/status`. `active`: the processor chooses the clock by the energy preference. `passive`: a governor of the
kernel chooses. `guided`: the governor gives limits, and the processor chooses within them. What was set before of
limits, governors and preferences is written down and comes back when the change is undone.

## What it costs
All settings of all policies start afresh, but for a change between `passive` and `guided`. The CPUs run on their last
clock while the driver changes.

## When to leave it alone
In `active` mode, unless a measurement of your own load says otherwise. `disable` is not offered, which would leave
the CPUs with no driver.
",
    references: &[Reference {
        title: "Linux: amd-pstate CPU Performance Scaling Driver",
        url: "https://docs.kernel.org/admin-guide/pm/amd-pstate.html#global-attributes",
    }],
    takes: "`active`, `passive` or `guided`",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Medium,
    power: "by who chooses the clock then",
    after: &["tuner"],
    fixes: &[],
    reads: &file::joined::<15>(&[&[AMD], &lost::FILES, &governor_tunable::FILES]),
    looks_at: lost::LOOKS_AT,
    plan: |scene, wanted| {
        set_mode(&AMD_PSTATE_STATUS, scene, wanted, &["active", "passive", "guided"], &[])
    },
};

/// Changes the mode in the first file that the setting reads; what the driver forgets is recorded, with its `own` files.
fn set_mode(
    setting: &Setting,
    scene: &Scene<'_>,
    wanted: &Wanted<'_>,
    modes: &[&str],
    own: &[&str],
) -> Planned {
    wanted.for_the_host(setting.id)?;
    if !modes.contains(&wanted.value) {
        return Err(wanted.not_taken(setting));
    }
    let status = setting.reads[0];
    let change = file::set(scene, status, wanted.value)?;
    let keeps_driver = |mode: &str| matches!(mode, "passive" | "guided");
    let is_kept = scene.controls.get(status).is_ok_and(keeps_driver) && keeps_driver(wanted.value);
    if change.writes.is_empty() || is_kept {
        return Ok(change);
    }
    let mut writes = lost::of_policies(scene);
    writes.extend(own.iter().filter_map(|it| lost::forgotten(scene, it)));
    writes.extend(change.writes);
    Ok(Change::of(writes)
        .note("every cpufreq policy is made anew: governors, limits and preferences start afresh"))
}

#[cfg(test)]
mod tests {
    use super::{AMD_PSTATE_STATUS, INTEL_PSTATE_STATUS};
    use crate::fixture::planned::{files, planned};

    const NOTE: &str =
        "note: every cpufreq policy is made anew: governors, limits and preferences start afresh";

    fn intel(status: &str) -> String {
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
        let plan = planned(&INTEL_PSTATE_STATUS, "active", &intel("passive"));
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
        let hot = intel("passive")
            .replace("scaling_max_freq\n4000000", "scaling_max_freq\n2000000")
            + &files(&format!(
                "{cooling}/type Processor\n{cooling}/cur_state 2\n{cooling}/max_state 3"
            ));
        assert!(!planned(&INTEL_PSTATE_STATUS, "active", &hot).contains("scaling_max_freq"));
    }

    #[test]
    fn the_clock_that_a_user_has_set_comes_back_after_the_governor() {
        let host = intel("passive").replace("schedutil", "userspace")
            + &files("cpufreq/policy0/scaling_setspeed 2000000");
        let plan = planned(&INTEL_PSTATE_STATUS, "active", &host);
        assert!(plan.starts_with("cpufreq/policy0/scaling_setspeed: 2000000 is forgotten\n"));
        assert!(
            !planned(&INTEL_PSTATE_STATUS, "active", &host.replace("userspace", "ondemand"))
                .contains("setspeed")
        );
    }

    fn amd(status: &str) -> String {
        files(&format!(
            "online 0
             amd_pstate/status {status}
             cpufreq/policy0/affected_cpus 0
             cpufreq/policy0/scaling_driver amd-pstate-epp
             cpufreq/policy0/scaling_governor powersave
             cpufreq/policy0/energy_performance_preference balance_power"
        ))
    }

    #[test]
    fn what_the_driver_forgets_is_kept_for_undoing() {
        let plan = planned(&AMD_PSTATE_STATUS, "guided", &amd("active"));
        assert_eq!(
            plan.replace("cpufreq/policy0/", ""),
            format!(
                "energy_performance_preference: balance_power is forgotten\n\
                 scaling_governor: powersave is forgotten\n\
                 amd_pstate/status: active -> guided\n{NOTE}"
            )
        );
    }

    #[test]
    fn boost_comes_back_before_the_limits_it_bounds() {
        let host = amd("active")
            + &files(
                "cpufreq/boost 0
                 cpufreq/policy0/boost 0
                 cpufreq/policy0/cpuinfo_min_freq 400000
                 cpufreq/policy0/scaling_min_freq 800000",
            );
        let plan = planned(&AMD_PSTATE_STATUS, "passive", &host);
        let places = plan.lines().filter_map(|it| it.strip_suffix(" is forgotten"));
        // Undone backwards.
        assert_eq!(
            places.map(|it| it.replace("cpufreq/policy0/", "")).collect::<Vec<_>>(),
            [
                "energy_performance_preference: balance_power",
                "scaling_min_freq: 800000",
                "boost: 0",
                "cpufreq/boost: 0",
                "scaling_governor: powersave",
            ]
        );
    }

    #[test]
    fn passive_and_guided_share_the_driver_and_nothing_is_forgotten() {
        let line = "amd_pstate/status: ";
        assert_eq!(
            planned(&AMD_PSTATE_STATUS, "guided", &amd("passive")),
            format!("{line}passive -> guided")
        );
        assert_eq!(
            planned(&AMD_PSTATE_STATUS, "passive", &amd("guided")),
            format!("{line}guided -> passive")
        );
    }
}
