//! Which clock is meant for a limit of a cpufreq policy, and what else may hold that limit.
//!
//! Source: Documentation/admin-guide/pm/cpufreq.rst; drivers/cpufreq/cpufreq.c (`cpufreq_set_policy`): since Linux
//! 5.3 what is read back is the limit in force, whoever asked for it, and not what was written.

use super::asked;
use crate::setting::{Refusal, Scene, Setting, Wanted};
use facts::cpu::cooling::Kind;
use facts::cpu::cpufreq::Policy;
use facts::{CpuSet, Hertz, Subject, Subjects};

/// The upper percentage of intel_pstate, which in passive mode cuts the limits that its policies show
/// (`update_qos_requests` in drivers/cpufreq/intel_pstate.c).
pub(super) const MAX_PCT: &str = "/sys/devices/system/cpu/intel_pstate/max_perf_pct";

/// What is looked at to tell the clock that is meant, and what holds a limit.
pub(super) const LOOKS_AT: Subjects = Subjects::of(&[
    Subject::Policies,
    Subject::Limits,
    Subject::Cpuinfo,
    Subject::Pstate,
    Subject::CoolingOfLimits,
]);

/// Which end of the range a limit is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Min,
    Max,
}

/// The clock that is asked for: a number, `min`, `max` or `nominal`, within what the driver has, and one of its table
/// where it goes by one.
pub(super) fn wanted(
    setting: &Setting,
    scene: &Scene<'_>,
    wanted: &Wanted<'_>,
    policy: &Policy,
    end: End,
) -> Result<Hertz, Refusal> {
    let (lowest, highest) = (*policy.cpuinfo_min.as_ref()?, *policy.cpuinfo_max.as_ref()?);
    let clock = match wanted.value {
        "min" => lowest,
        "max" => scene.host.highest_request(policy)?,
        "nominal" => match scene.host.nominal_clock() {
            Some((clock, _)) => policy.base_frequency.clone().unwrap_or(clock),
            None => return Err(Refusal::Host("nobody says what the nominal clock is".to_owned())),
        },
        text => asked::clock(text).ok_or_else(|| wanted.not_taken(setting))?,
    };
    if !(lowest..=highest).contains(&clock) {
        let text = format!("{} runs from {lowest} to {highest}, and not at {clock}", policy.folder);
        return Err(Refusal::Value(text));
    }
    Ok(of_table(scene, policy, clock, end))
}

/// The next clock of a driver that goes by a table, as the kernel rounds: a lower limit up, an upper one down
/// (`__resolve_freq` in drivers/cpufreq/cpufreq.c).
fn of_table(scene: &Scene<'_>, policy: &Policy, clock: Hertz, end: End) -> Hertz {
    let table = scene.host.cpufreq.table.as_deref().unwrap_or_default();
    if policy.asks_for_turbo() {
        return clock;
    }
    let next = match end {
        End::Max => table.iter().copied().filter(|it| *it <= clock).max(),
        End::Min => table.iter().copied().filter(|it| *it >= clock).min(),
    };
    next.unwrap_or(clock)
}

/// Refuses where the upper limit in force is not known to be what somebody asked for: bringing it back later would
/// make a passing limit a lasting one.
pub(super) fn no_passing_limit(scene: &Scene<'_>, policy: &Policy) -> Result<(), Refusal> {
    let limit = *policy.scaling_max.as_ref()?;
    let full = scene.host.highest_request(policy)?;
    if limit >= full {
        return Ok(());
    }
    if policy.bios_limit.as_ref().is_ok_and(|it| *it < full && *it <= limit) {
        let text = format!(
            "firmware keeps {} at {limit} ({} is below {full}): mend that first, or its limit would come back for good",
            policy.folder,
            policy.path("bios_limit")
        );
        return Err(Refusal::Host(text));
    }
    if policy.driver.as_deref() == Ok("intel_cpufreq")
        && let Some(percent) =
            scene.controls.get(MAX_PCT).ok().and_then(asked::whole).filter(|it| *it < 100)
    {
        let text = format!(
            "{MAX_PCT} is {percent} and may be what keeps {} at {limit}: set max-perf-pct=100 first",
            policy.folder
        );
        return Err(Refusal::Host(text));
    }
    let devices = scene.host.cooling.as_deref().unwrap_or_default();
    let is_on = |level: u64| level > 0;
    let mut cooling = devices.iter().filter(|it| it.kind == Kind::Processor);
    match cooling.find(|it| it.level().is_ok_and(is_on)) {
        Some(device) => Err(Refusal::Host(format!(
            "{} cools the CPUs and keeps {} at {limit}: wait until it is 0, or its limit would come back for good",
            device.state_path(),
            policy.folder
        ))),
        None => Ok(()),
    }
}

/// What to know where turbo is off: then the upper limit shows the highest clock without it.
pub(super) fn turbo_note(scene: &Scene<'_>, cpus: &CpuSet) -> Option<String> {
    let is_off = scene.host.runs_without_turbo() && !cpus.is_empty();
    is_off.then(|| {
        "turbo is off: limits are shown and brought back as they are without it; after turbo is switched on, set them again"
            .to_owned()
    })
}
