//! Studies: settings and conditions by workloads, run in random order around changes of the machine, and kept in a folder.

mod arms;
mod background_load;
mod boots;
pub mod cases;
mod folder;
mod guards;
mod interim;
mod load;
mod resume;
mod session;
mod study;
mod trial_env;

pub use boots::plan as plan_boots;
pub use folder::read;
pub use load::{Busy, occupy};
pub use resume::{Earlier, earlier, resume};
pub use trial_env::{Reserved, reserve, under};

use crate::Tell;
use crate::interrupt::Interrupt;
use anyhow::Result;
use folder::{Place, folder};
use host::change::Changer;
use lab::bench::{Plan, PlannedArm};
use lab::experiment::{Design, Experiment};
use lab::failure::Failure;
use lab::record::Record;
use std::path::{Path, PathBuf};
use study::Study;

/// How a study is run, apart from its design.
pub struct Task<'a> {
    /// Whether what can do harm is planned, too.
    pub i_know: bool,
    /// Whether it is only planned.
    pub dry_run: bool,
    /// Decides the order of the trials; drawn where it is `None`.
    pub seed: Option<u64>,
    /// The folder of all studies; where it is `None`, the one in the folder of results.
    pub results: Option<&'a Path>,
    /// Where the journal of changes is.
    pub state_dir: &'a Path,
    /// The words of the user's command, for the journal.
    pub command: Vec<String>,
}

/// What came of a study.
pub struct Ran {
    /// The trials, with their doubts.
    pub record: Record,
    /// What ended them early.
    pub outcome: Result<(), Failure>,
    /// Where it is kept.
    pub folder: PathBuf,
    /// Whether it is over; else the rest waits for a reboot.
    pub is_over: bool,
    /// What users should know after what the trials say.
    pub notes: Vec<String>,
}

impl Ran {
    /// Whether nothing is kept of it: no trial was run, and none waits for a reboot.
    pub fn is_void(&self) -> bool {
        is_void(&self.record)
    }
}

fn is_void(record: &Record) -> bool {
    let takes_boots = record.experiment.as_ref().is_some_and(|it| it.design.boots.is_some());
    record.trials.is_empty() && !takes_boots
}

/// Runs a study from its beginning; `None` where it is only planned. `workloads` are those of the design, each with its options.
///
/// Errors: the machine cannot run it as it is designed; it cannot be kept.
pub fn begin(
    design: Design,
    workloads: &[PlannedArm],
    machine: Reserved,
    task: &Task<'_>,
    tell: &mut Tell<'_>,
) -> Result<Option<Ran>> {
    let Reserved { host, changer } = machine;
    let mut study = Study::of(design, workloads, &host, task.i_know)?;
    let interrupt = Interrupt::listen()?;
    study.fit(&interrupt, tell)?;
    let plan = study.plan(task.seed.unwrap_or_else(|| fastrand::u64(..Experiment::SEEDS)))?;
    study.announce(!task.dry_run, tell)?;
    if task.dry_run {
        return Ok(None);
    }
    let folder = folder(task.results)?.join(&plan.id);
    let context = RunContext { task, interrupt: &interrupt, changer };
    study.run(context, plan, Start::Anew(folder), tell).map(Some)
}

/// With what a study is run.
struct RunContext<'a> {
    task: &'a Task<'a>,
    interrupt: &'a Interrupt,
    /// Held from before the machine was looked at; none without root.
    changer: Option<Changer>,
}

/// How a run begins.
enum Start {
    /// In this folder.
    Anew(PathBuf),
    /// After the trials of an earlier one.
    After(Box<Earlier>),
}

impl Start {
    /// The plan of what is left, and where it is kept.
    fn place(self, plan: Plan) -> Result<(Plan, Place)> {
        match self {
            Start::Anew(folder) => Ok((plan, Place { folder, journal: None })),
            Start::After(earlier) => {
                let Earlier { journal, record, folder } = *earlier;
                Ok((resume::after(plan, record)?, Place { folder, journal: Some(journal) }))
            }
        }
    }
}
