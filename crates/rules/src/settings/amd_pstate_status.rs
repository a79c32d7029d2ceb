//! `amd-pstate-status`: whether the processor, a governor, or both choose the clock.
//!
//! Sources: Documentation/admin-guide/pm/amd-pstate.rst, "Global Attributes"; drivers/cpufreq/amd-pstate.c
//! (`amd_pstate_update_status`), since Linux 6.3. A change resets everything that was set of the policies, but for one
//! between passive and guided (`amd_pstate_change_mode_without_dvr_change`).

use crate::check::Reference;
use crate::setting::{Change, Effect, Planned, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::{file, lost, reads, tunables};

const STATUS: &str = "/sys/devices/system/cpu/amd_pstate/status";

pub(super) const SETTING: Setting = Setting {
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
    reads: &reads::joined::<15>(&[&[STATUS], &lost::FILES, &tunables::FILES]),
    looks_at: lost::LOOKS_AT,
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    if !matches!(wanted.value, "active" | "passive" | "guided") {
        return Err(wanted.not_taken(&SETTING));
    }
    let change = file::set(scene, STATUS, wanted.value)?;
    if change.writes.is_empty() {
        return Ok(change);
    }
    let keeps_driver = |mode: &str| matches!(mode, "passive" | "guided");
    if scene.controls.get(STATUS).is_ok_and(keeps_driver) && keeps_driver(wanted.value) {
        return Ok(change);
    }
    let mut writes = lost::of_policies(scene);
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
             amd_pstate/status {status}
             cpufreq/policy0/affected_cpus 0
             cpufreq/policy0/scaling_driver amd-pstate-epp
             cpufreq/policy0/scaling_governor powersave
             cpufreq/policy0/energy_performance_preference balance_power"
        ))
    }

    #[test]
    fn what_the_driver_forgets_is_kept_for_undoing() {
        let plan = planned(&SETTING, "guided", &host("active"));
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
        let host = host("active")
            + &files(
                "cpufreq/boost 0
                 cpufreq/policy0/boost 0
                 cpufreq/policy0/cpuinfo_min_freq 400000
                 cpufreq/policy0/scaling_min_freq 800000",
            );
        let plan = planned(&SETTING, "passive", &host);
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
            planned(&SETTING, "guided", &host("passive")),
            format!("{line}passive -> guided")
        );
        assert_eq!(
            planned(&SETTING, "passive", &host("guided")),
            format!("{line}guided -> passive")
        );
    }
}
