//! Workloads that are ready to run: one for all arms that ask the same of the same one.

use super::{PlannedArm, recorder};
use crate::failure::Failure;
use crate::record::Arm;
use crate::workload::{Ready, Scene, Settings};
use facts::probe::ClockReading;
use facts::{CpuSet, Fact, Missing};
use host::probe::pinned;

/// What the arms of a plan run. Arms that differ in nothing but the machine share a workload: a server is started once.
pub(super) struct Prepared {
    distinct: Vec<PreparedArm>,
    /// The place of each arm's workload among those.
    of_arm: Vec<usize>,
}

pub(super) struct PreparedArm {
    pub(super) ready: Box<dyn Ready>,
}

impl Prepared {
    pub(super) fn of(planned: &[PlannedArm], scene: &Scene<'_>) -> Result<Prepared, Failure> {
        let mut prepared = Prepared { distinct: Vec::new(), of_arm: Vec::new() };
        let mut distinct: Vec<&PlannedArm> = Vec::new();
        for arm in planned {
            let is_same =
                |it: &&PlannedArm| it.workload.id == arm.workload.id && it.settings == arm.settings;
            let place = distinct.iter().position(is_same).unwrap_or(distinct.len());
            if place == distinct.len() {
                distinct.push(arm);
                prepared.distinct.push(PreparedArm::of(arm, scene)?);
            }
            prepared.of_arm.push(place);
        }
        Ok(prepared)
    }

    /// What each arm runs.
    pub(super) fn all(&self) -> Vec<&PreparedArm> {
        self.of_arm.iter().map(|it| &self.distinct[*it]).collect()
    }

    /// What this arm runs.
    pub(super) fn arm(&mut self, number: usize) -> &mut PreparedArm {
        &mut self.distinct[self.of_arm[number]]
    }
}

/// Refuses CPUs that this process may not run on.
pub(crate) fn refuse_denied(settings: &Settings) -> Result<(), Failure> {
    let Some(cpus) = settings.cpus()? else { return Ok(()) };
    // The CPUs of isolcpus= are in no process's mask, but a process can pin itself to them.
    let denied: CpuSet = cpus.iter().filter(|cpu| pinned(*cpu, || ()).is_err()).collect();
    if denied.is_empty() {
        return Ok(());
    }
    let text = format!("--cpus names {denied}: offline, or outside of this process's cpuset");
    Err(Failure::Unready(text))
}

impl PreparedArm {
    fn of(planned: &PlannedArm, scene: &Scene<'_>) -> Result<PreparedArm, Failure> {
        planned.workload.accepts(&planned.settings)?;
        refuse_denied(&planned.settings)?;
        Ok(PreparedArm { ready: (planned.workload.prepare)(&planned.settings, scene)? })
    }

    pub(super) fn describe(&self, planned: &PlannedArm) -> Arm {
        Arm {
            settings: planned.settings.without_secrets(),
            cpus: self.ready.cpus().map(CpuSet::to_string),
            about: self.ready.about(),
            ..Arm::of(&planned.name, planned.workload.id)
        }
    }

    /// The clocks of its CPUs; missing where the scheduler chooses them.
    pub(super) fn clocks(&self) -> Fact<Vec<ClockReading>> {
        let because = "the scheduler chose its CPUs; --cpus pins it";
        let unpinned = || Missing::not_here("clock of the trial", because);
        recorder::clocks(self.ready.cpus().ok_or_else(unpinned)?)
    }
}
