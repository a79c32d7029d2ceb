//! Runs trials: in blocks of random order, each with the clock probed around it and the ledger of its CPUs.

mod blocks;
mod log_reader;
mod prepared;
mod recorder;
mod trial_runner;
mod turns;

use crate::doubt::Doubt;
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::held;
use crate::record::{Fingerprint, Record};
use crate::trial::Trial;
use crate::workload::{Scene, Settings, Workload};
use blocks::Blocks;
use facts::Fact;
use facts::probe::EventCosts;
use fastrand::Rng;
use prepared::Prepared;
pub(crate) use prepared::refuse_denied;
pub(crate) use recorder::{Recorder, Work, clocks, trial_clock};
use trial_runner::TrialRunner;

/// What is to be run.
pub struct Plan {
    /// What is compared; one without a comparison.
    pub arms: Vec<PlannedArm>,
    /// How many trials of each arm at least; rounded up to whole blocks.
    pub trials: u32,
    /// How many trials of each arm there will probably be: what is dear to prepare serves several rounds of a long run.
    pub expected: u32,
    /// Decides the order of each block.
    pub seed: u64,
    /// Names the result in the history.
    pub id: String,
    /// The version of this program.
    pub version: String,
    /// The moment, UTC (RFC 3339).
    pub began: String,
    /// The machine.
    pub machine: Fingerprint,
    /// What an interrupt costs here, for the ledgers.
    pub costs: Fact<EventCosts>,
    /// Whether trials run as a whole, also those that could be cut: the machine is not the same for every arm.
    pub is_whole: bool,
    /// Trials of each arm in front of the first that counts; they are not kept.
    pub warm_up: u32,
    /// What makes it a study of settings.
    pub experiment: Option<Experiment>,
    /// The trials that an earlier run of the same plan, with the same seed, made before it was cut short; only where
    /// `is_whole`.
    pub so_far: Vec<Trial>,
    /// The boot that this is, where the experiment takes reboots.
    pub boot: Option<BootOf>,
}

/// A boot of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootOf {
    /// The beginning of its id, /proc/sys/kernel/random/boot_id: as much as distinguishes it from others.
    pub id: String,
    /// Which of the experiment's [`Parts`](crate::experiment::Parts) is run in it; `None` where its levels are not in force,
    /// and no trial is run.
    pub part: Option<usize>,
}

/// One of the things compared.
#[derive(Clone)]
pub struct PlannedArm {
    /// What it is called.
    pub name: String,
    /// The workload that the trials of the arm run.
    pub workload: &'static Workload,
    /// What was asked of it.
    pub settings: Settings,
}

/// Is told of each trial, changes the machine around it, and decides when to end.
pub trait Watcher {
    /// Everything is prepared, and the first trial is about to begin; there is none in the record yet. The id
    /// may be changed here.
    fn begun(&mut self, record: &mut Record) -> Result<(), Failure>;

    /// Runs one trial of an arm by calling `trial` once. An implementation that changes the machine for some of the arms does it
    /// around that call; only where [`Plan::is_whole`] is set.
    fn surround(
        &mut self,
        _arm: usize,
        trial: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        trial()
    }

    /// Whether there is time for another block; what was planned is done where not.
    fn begins_block(&mut self, _record: &Record) -> bool {
        true
    }

    /// A trial of an arm failed. Whether that is a result like any other and the next one is to be run; only where
    /// [`Plan::is_whole`] says that it is so.
    fn goes_on(&mut self, _arm: usize, _failure: &Failure) -> bool {
        false
    }

    /// A trial has been added to the record.
    fn tried(&mut self, record: &Record) -> Result<(), Failure>;

    /// A block is over, and every arm has the planned number of trials. Whether another block is wanted.
    fn wants_more(&mut self, record: &Record) -> bool;
}

/// Runs the plan. The record holds every trial that was made, also where a later one failed; its doubts are not yet
/// found. Only a plan that could not begin has no record.
pub fn run(
    plan: Plan,
    scene: &Scene<'_>,
    watcher: &mut dyn Watcher,
) -> Result<(Record, Result<(), Failure>), Failure> {
    let n_arms = plan.arms.len();
    let arms = Prepared::of(plan.arms, plan.is_whole, plan.seed, &plan.so_far, scene)?;
    let pieces = if plan.is_whole { None } else { turns::pieces(&arms.all())? };
    // A study has the blocks that it was planned with.
    let serves_several = arms.is_dear() && !plan.is_whole;
    let rounds = if serves_several { blocks::rounds(plan.expected, n_arms) } else { 1 };
    let mut record = Record {
        id: plan.id,
        version: plan.version,
        began: plan.began,
        machine: plan.machine,
        held: Some(held::of(scene.host)),
        pieces: pieces.unwrap_or(1),
        experiment: plan.experiment,
        trials: plan.so_far,
        ..Record::of(arms.describe())
    };
    let recorder = Recorder::open(scene.host, plan.costs);
    let mut draw = Rng::with_seed(plan.seed);
    let blocks = Blocks::of(&record, plan.trials, rounds, plan.boot.as_ref());
    let boot = plan.boot.map(|it| it.id);
    let runner = TrialRunner::new(arms, pieces, recorder, scene, boot);
    let outcome = runner.run(plan.warm_up, &blocks, &mut draw, &mut record, watcher);
    record.is_complete = outcome.is_ok() && blocks.has_all(&record);
    if matches!(outcome, Err(Failure::Stopped)) {
        record.doubts.push(Doubt::CutShort.into());
    }
    Ok((record, outcome))
}
