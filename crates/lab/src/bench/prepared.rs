//! Workloads that are ready to run, and which of them are made anew for each block.
//!
//! Two buffers, or two servers, of the same settings are not equally fast: where they came to lie in memory stays with them
//! for as long as they live, and the one that was made second lies elsewhere. The order of trials cannot even that out, so
//! preparation is randomised like trials are: each block makes what its arms run anew, in an order that chance decides (R. A.
//! Fisher, The Design of Experiments, 1935, section 9: whatever is not the same for both is assigned by lot). What it does is
//! then part of the differences of blocks, and of their interval.

use super::log_reader::LogReader;
use super::{PlannedArm, recorder};
use crate::failure::Failure;
use crate::record::Arm;
use crate::server::{Meter, ServerSelection};
use crate::trial::Trial;
use crate::workload::{Preparation, Ready, Scene, Setting, Settings};
use facts::probe::ClockReading;
use facts::{CpuSet, Fact, Missing};
use fastrand::Rng;
use host::probe::pinned;

/// What the arms of a plan run.
pub(super) struct Prepared {
    planned: Vec<PlannedArm>,
    /// What was made, or is to be; arms may share one.
    sets: Vec<Set>,
    /// Which of those each arm runs.
    of_arm: Vec<usize>,
    seed: u64,
    /// How many were made so far.
    n_made: u32,
    /// The block that they were made for, where it has not begun.
    coming: Option<u32>,
}

/// What one arm runs, or several.
struct Set {
    /// The first of its arms.
    arm: usize,
    /// Whether each block makes it anew.
    is_anew: bool,
    ready: Option<PreparedArm>,
}

/// A workload that is ready for the trials of its arms.
pub(super) struct PreparedArm {
    pub(super) ready: Box<dyn Ready>,
    /// Reads the server that its work is done in, or why it cannot be read: it may run on another machine.
    pub(super) meter: Option<Result<Meter, String>>,
    /// Its number among all that were made; `None` where the workload leaves nothing to its trials.
    pub(super) number: Option<u32>,
    /// Reads the log of the user's server around each trial, where there is one.
    pub(super) log: Option<LogReader>,
}

impl Prepared {
    /// Makes ready what these arms run, for the first block that is to run, after all of the `history` of an earlier run.
    ///
    /// Where `is_machine_varied`, settings of the machine are what differs. Arms that run the same workload with the same
    /// settings then share it: whatever it is, it is the same for both, and cannot favour one of them. Only where a workload
    /// runs with several settings, each block makes it anew. Elsewhere arms share nothing that has a state, and every block
    /// makes all of it anew: also two with equal settings, which would otherwise look more alike than what is compared with
    /// them.
    pub(super) fn of(
        planned: Vec<PlannedArm>,
        is_machine_varied: bool,
        seed: u64,
        history: &[Trial],
        scene: &Scene<'_>,
    ) -> Result<Prepared, Failure> {
        for arm in &planned {
            arm.workload.accepts(&arm.settings)?;
            refuse_denied(&arm.settings)?;
        }
        let (sets, of_arm) = sets(&planned, is_machine_varied);
        let mut all: Vec<usize> = (0..sets.len()).collect();
        let n_made = history.iter().filter_map(|it| it.preparation).max().unwrap_or_default();
        let block = history.last().map_or(1, |it| it.block);
        let mut prepared = Prepared { planned, sets, of_arm, seed, n_made, coming: Some(block) };
        prepared.make(&mut all, block, scene)?;
        Ok(prepared)
    }

    /// Whether blocks make something anew that takes seconds.
    pub(super) fn is_dear(&self) -> bool {
        let is_dear =
            |it: &Set| self.planned[it.arm].workload.preparation == Preparation::Dear && it.is_anew;
        self.sets.iter().any(is_dear)
    }

    /// Makes anew what the arms of a block run, in an order that the seed and the number of the block decide: a run that goes
    /// on later makes the rest in the order of one that was never cut short. Returns whether anything was made.
    pub(super) fn renew(
        &mut self,
        block: u32,
        arms: &[usize],
        scene: &Scene<'_>,
    ) -> Result<bool, Failure> {
        if self.coming.take() == Some(block) {
            return Ok(false);
        }
        let mut due: Vec<usize> = arms.iter().map(|it| self.of_arm[*it]).collect();
        due.retain(|it| self.sets[*it].is_anew);
        due.sort_unstable();
        due.dedup();
        self.make(&mut due, block, scene)?;
        Ok(!due.is_empty())
    }

    /// Makes these. None of the earlier ones is there any more when the first is made, so that each may come to lie anywhere.
    fn make(&mut self, due: &mut [usize], block: u32, scene: &Scene<'_>) -> Result<(), Failure> {
        for it in due.iter() {
            self.sets[*it].ready = None;
        }
        order_of(self.seed, block).shuffle(due);
        for it in due.iter() {
            self.n_made += 1;
            let set = &mut self.sets[*it];
            let PlannedArm { workload, settings, .. } = &self.planned[set.arm];
            let has_state = workload.preparation != Preparation::Stateless;
            let ready = (workload.prepare)(settings, scene)?;
            let server = ready.server();
            let meter =
                server.as_ref().map(|it| Meter::of(it, scene.stop).map_err(|why| why.to_string()));
            let number = has_state.then_some(self.n_made);
            // Other workloads that work with a server read its counters themselves.
            let has_no_counters = workload.takes.contains(&Setting::Server);
            let log = match &server {
                Some(ServerSelection::Dsn(dsn)) if has_no_counters => Some(LogReader::of(dsn)?),
                _ => None,
            };
            set.ready = Some(PreparedArm { ready, meter, number, log });
        }
        Ok(())
    }

    /// What each arm runs.
    pub(super) fn all(&self) -> Vec<&PreparedArm> {
        self.of_arm.iter().filter_map(|it| self.sets[*it].ready.as_ref()).collect()
    }

    /// What this arm runs. Errors: making it anew failed.
    pub(super) fn arm(&mut self, number: usize) -> Result<&mut PreparedArm, Failure> {
        let set = &mut self.sets[self.of_arm[number]];
        let name = &self.planned[number].name;
        set.ready.as_mut().ok_or_else(|| Failure::Unready(format!("{name} was not made ready")))
    }

    /// The arms, as a result describes them.
    pub(super) fn describe(&self) -> Vec<Arm> {
        self.planned.iter().zip(self.all()).map(|(planned, arm)| arm.describe(planned)).collect()
    }
}

/// What there is to be made, and which of it each arm runs.
fn sets(planned: &[PlannedArm], is_machine_varied: bool) -> (Vec<Set>, Vec<usize>) {
    let is_stateless = |it: &PlannedArm| it.workload.preparation == Preparation::Stateless;
    let mut sets: Vec<Set> = Vec::new();
    let mut of_arm = Vec::with_capacity(planned.len());
    for (arm, it) in planned.iter().enumerate() {
        let is_shared = |set: &Set| {
            let other = &planned[set.arm];
            (is_machine_varied || is_stateless(it))
                && other.workload.id == it.workload.id
                && other.settings == it.settings
        };
        let place = sets.iter().position(is_shared).unwrap_or(sets.len());
        if place == sets.len() {
            sets.push(Set { arm, is_anew: false, ready: None });
        }
        of_arm.push(place);
    }
    let workloads: Vec<&str> = sets.iter().map(|it| planned[it.arm].workload.id).collect();
    for set in &mut sets {
        let own = &planned[set.arm];
        // A study compares the arms of one workload with each other, and no others.
        let n_compared =
            workloads.iter().filter(|it| !is_machine_varied || **it == own.workload.id).count();
        set.is_anew = n_compared > 1 && !is_stateless(own);
    }
    (sets, of_arm)
}

/// What decides the order in which a block makes its workloads; apart from what decides the order of its trials.
fn order_of(seed: u64, block: u32) -> Rng {
    // The steps of SplitMix (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    Rng::with_seed(seed ^ GOLDEN.wrapping_mul(u64::from(block)))
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
    fn describe(&self, planned: &PlannedArm) -> Arm {
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

#[cfg(test)]
mod tests {
    use super::super::blocks;
    use super::*;

    #[test]
    fn chance_decides_who_is_made_first_and_not_who_runs_first() {
        for seed in [0, 1, 7, u64::MAX] {
            let mut draw = Rng::with_seed(seed);
            // By who is made first and who runs first.
            let mut seen = [[0_u32; 2]; 2];
            for block in 1..=4000 {
                let mut made = [0, 1];
                order_of(seed, block).shuffle(&mut made);
                seen[made[0]][blocks::order(2, &mut draw)[0]] += 1;
            }
            // 1000 each, and five standard deviations.
            assert!(seen.iter().flatten().all(|it| it.abs_diff(1000) < 140), "{seed}: {seen:?}");
        }
    }

    #[test]
    fn the_order_of_a_block_is_the_same_whichever_came_before_it() {
        let order = |block| {
            let mut made: Vec<usize> = (0..20).collect();
            order_of(3, block).shuffle(&mut made);
            made
        };
        assert_eq!(order(9), order(9));
        assert_ne!(order(9), order(10));
    }
}
