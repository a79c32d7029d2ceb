//! What the settings of cpufreq policies share: which policies are meant, and the file of each.

use crate::setting::{Refusal, Scene, Wanted};
use facts::change::{Control, Target, Write, is_same};
use facts::cpu::cpufreq::Policy;
use facts::{CpuSet, Subject, Subjects};

/// What is looked at to tell which policies are meant.
pub(super) const LOOKS_AT: Subjects = Subjects::of(&[Subject::Policies, Subject::Cpus]);

/// One file of one cpufreq policy.
pub(super) struct PolicyFile<'a> {
    /// Its path.
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
    for control in scene.controls.matching(pattern) {
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
                    "CPUs {cpus} share one clock: add {outside} to @{asked}, or leave them all out"
                );
                return Err(Refusal::Value(text));
            }
        }
        files.push(PolicyFile { path: control.path, text: control.text? });
    }
    if files.is_empty() {
        let text = match wanted.cpus {
            None => format!("this host has no {pattern}"),
            Some(cpus) => format!("none of the CPUs {cpus} has {pattern}"),
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
