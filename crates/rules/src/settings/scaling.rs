//! What the settings of cpufreq policies share: which policies are meant, the file of each, which clock is meant for a limit,
//! and what else may hold that limit.
//!
//! Source: Documentation/admin-guide/pm/cpufreq.rst; drivers/cpufreq/cpufreq.c (`cpufreq_set_policy`): since Linux 5.3 the
//! file shows the limit in force, whoever requested it, and not the value that was written.

use super::value;
use crate::setting::{Refusal, Scene, Setting, Wanted};
use facts::change::{Control, Target, Write, is_same};
use facts::cpu::cpufreq::{Cpufreq, Policy};
use facts::{CpuSet, Hertz, Subject, Subjects};

/// The facts from which the policies that are meant are known.
pub(super) const LOOKS_AT: Subjects = Subjects::of(&[Subject::Policies, Subject::Cpus]);

/// One file of one cpufreq policy.
pub(super) struct PolicyFile<'a> {
    path: &'a str,
    /// What it holds.
    pub(super) text: &'a str,
}

impl PolicyFile<'_> {
    /// The folder of the policy.
    pub(super) fn folder(&self) -> &str {
        folder_of(self.path)
    }

    /// The path of another file of the policy.
    pub(super) fn beside(&self, file: &str) -> String {
        format!("{}/{file}", self.folder())
    }

    /// The write that gives it a value; none where it has that.
    pub(super) fn write(&self, to: &str) -> Option<Write> {
        (!is_same(self.text, to)).then(|| Write::of(Target::control(self.path), self.text, to))
    }
}

/// A file of every policy, by its pattern. On older kernels the folders of CPUs that share a policy all have its files, and only the one
/// that is the policy's is taken.
pub(super) fn files_of_policies<'a>(scene: &'a Scene<'_>, pattern: &str) -> Vec<Control<'a>> {
    let mut files = scene.controls.matching(pattern);
    files.retain(|it| is_of_policy(it.path) || of_host(scene, folder_of(it.path)).is_some());
    files
}

/// Whether a path is in the folder of a policy, and not in that of a CPU.
fn is_of_policy(path: &str) -> bool {
    path.starts_with(Cpufreq::FOLDER)
}

/// The file of every policy that is meant. The pattern names the folder `policy*` and the file.
///
/// Refuses where there is no cpufreq at all, where a file cannot be read, and a list of CPUs that covers only some of the CPUs
/// of a policy: a policy has one clock.
pub(super) fn policies<'a>(
    scene: &'a Scene<'_>,
    wanted: &Wanted<'_>,
    pattern: &'a str,
) -> Result<Vec<PolicyFile<'a>>, Refusal> {
    scene.host.cpufreq.policies.as_ref()?;
    let mut files = Vec::new();
    for control in files_of_policies(scene, pattern) {
        let folder = folder_of(control.path);
        let cpus = of_host(scene, folder).map(|it| &it.cpus);
        if is_offline(scene, &control, cpus) {
            continue;
        }
        if let (Some(asked), Some(cpus)) = (wanted.cpus, cpus) {
            let outside: CpuSet = cpus.iter().filter(|cpu| !asked.contains(*cpu)).collect();
            if outside.len() == cpus.len() {
                continue;
            }
            if !outside.is_empty() {
                let text = format!(
                    "{} share one clock: add {outside} to @{asked}, or leave them all out",
                    cpus.named()
                );
                return Err(Refusal::Value(text));
            }
        }
        files.push(PolicyFile { path: control.path, text: control.text? });
    }
    if files.is_empty() {
        let text = match wanted.cpus {
            None => format!("this host has no {pattern}"),
            Some(cpus) => format!("{} {} no {pattern}", cpus.named(), cpus.agree("has", "have")),
        };
        return Err(Refusal::Host(text));
    }
    Ok(files)
}

/// The policy of the host whose folder this is.
pub(super) fn of_host<'a>(scene: &Scene<'a>, folder: &str) -> Option<&'a Policy> {
    let policies = scene.host.cpufreq.policies.as_ref().ok()?;
    // In the order of their numbers, of which the longer is the larger.
    let in_order = |folder: &'a str| (folder.len(), folder);
    let at = policies.binary_search_by(|it| in_order(&it.folder).cmp(&(folder.len(), folder)));
    policies.get(at.ok()?)
}

/// Whether a policy is one of CPUs that are all offline: its folder stays, and its files answer EBUSY (`show` in
/// drivers/cpufreq/cpufreq.c).
fn is_offline(scene: &Scene<'_>, control: &Control<'_>, cpus: Option<&CpuSet>) -> bool {
    let Ok(online) = &scene.host.topology.online else { return false };
    let is_idle = cpus.is_none_or(|it| it.and(online).is_empty());
    is_idle && control.numbers().iter().all(|cpu| !online.contains(*cpu))
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(folder, _)| folder)
}

/// The upper percentage of intel_pstate, which in passive mode cuts the limits that its policies show
/// (`update_qos_requests` in drivers/cpufreq/intel_pstate.c).
pub(super) const MAX_PCT: &str = "/sys/devices/system/cpu/intel_pstate/max_perf_pct";

/// The facts from which the clock that is meant, and what holds a limit, are known.
pub(super) const LIMITS_LOOK_AT: Subjects = Subjects::of(&[
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

/// The requested clock: a number, `min`, `max` or `nominal`, within what the driver has, and one of its table
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
            None => return Err(Refusal::Host("the nominal clock is unknown".to_owned())),
        },
        text => value::clock(text).ok_or_else(|| wanted.not_taken(setting))?,
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

/// Refuses where the upper limit in force is not known to be a user's request: bringing it back later would
/// make a passing limit a lasting one.
pub(super) fn no_passing_limit(scene: &Scene<'_>, policy: &Policy) -> Result<(), Refusal> {
    let limit = *policy.scaling_max.as_ref()?;
    let full = scene.host.highest_request(policy)?;
    if limit >= full {
        return Ok(());
    }
    if policy.bios_limit.as_ref().is_ok_and(|it| *it < full && *it <= limit) {
        let text = format!(
            "firmware keeps {} at {limit} ({} is below {full}): fix that first, or its limit would come back for good",
            policy.folder,
            policy.path("bios_limit")
        );
        return Err(Refusal::Host(text));
    }
    if policy.driver.as_deref() == Ok("intel_cpufreq")
        && let Some(percent) =
            scene.controls.get(MAX_PCT).ok().and_then(value::whole).filter(|it| *it < 100)
    {
        let text = format!(
            "{MAX_PCT} is {percent} and may be what keeps {} at {limit}: set max-perf-pct=100 first",
            policy.folder
        );
        return Err(Refusal::Host(text));
    }
    let devices = scene.host.cooling.as_deref().unwrap_or_default();
    let is_on = |level: u64| level > 0;
    let mut cooling = devices.iter().filter(|it| it.may_lower_clock_of(&policy.cpus));
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
