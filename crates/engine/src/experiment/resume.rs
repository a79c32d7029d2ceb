//! Resumes a study that was cut short, without repeating a trial.

use super::folder::{folder, journal_in, journals, read};
use super::study::Study;
use super::{Ran, Reserved, RunContext, Start, Task, boots};
use crate::interrupt::Interrupt;
use crate::{Event, Tell};
use anyhow::{Context, Result, bail};
use facts::HostView;
use facts::quantity::counted_all;
use lab::bench::{Plan, PlannedArm};
use lab::experiment::Experiment;
use lab::record::{Fingerprint, Record};
use lab::store::Journal;
use std::path::{Path, PathBuf};

/// The trials of an earlier run, and where they are kept.
pub struct Earlier {
    pub(super) journal: Journal,
    pub(super) record: Record,
    pub(super) folder: PathBuf,
}

impl Earlier {
    /// What makes it a study.
    ///
    /// Error: it is none.
    pub fn experiment(&self) -> Result<&Experiment> {
        let experiment = self.record.experiment.as_ref();
        experiment.context("it is a result of `fullclock bench`, and no study")
    }
}

/// The study with this id or in this folder, the latest where none is named; held until it is dropped.
///
/// Errors: there is none; it is whole; another process runs it.
pub fn earlier(results: Option<&Path>, name: Option<&str>) -> Result<Earlier> {
    let place = folder(results)?;
    let journal = match name {
        None => latest(&place)?,
        Some(name) => of_name(&place, name)?,
    };
    let (journal, record) = Journal::resume(&journal)?;
    let folder = journal.folder().to_owned();
    Ok(Earlier { journal, record, folder })
}

/// Runs the trials that are left; `None` where it is only asked whether that is possible. `workloads` are those of the design, each
/// with its options.
///
/// Errors: the machine or the plan is not what it was; as of [`super::begin`].
pub fn resume(
    earlier: Earlier,
    workloads: &[PlannedArm],
    machine: Reserved,
    task: &Task<'_>,
    tell: &mut Tell<'_>,
) -> Result<Option<Ran>> {
    let Reserved { host, changer } = machine;
    let host = &host;
    let experiment = earlier.experiment()?.clone();
    let record = &earlier.record;
    match experiment.design.boots {
        None => is_the_same(record, host)?,
        Some(_) => {
            for line in boots::is_the_same_machine(record, &experiment, host)? {
                tell(Event::Note(format!("in this boot {line}")))?;
            }
        }
    }
    let text = format!("resuming {} after {}", record.id, counted_all(&record.trials, "trial"));
    tell(Event::Note(text))?;
    let seed = experiment.seed;
    let planned = Study::of(experiment.design, workloads, host, task.i_know)?;
    if planned.combinations != experiment.arms {
        bail!(
            "{}: its combinations are not those that this version makes of its plan; begin anew",
            record.id
        );
    }
    same_arms(&planned, record)?;
    if task.dry_run {
        return Ok(None);
    }
    let interrupt = Interrupt::listen()?;
    let plan = planned.plan(seed)?;
    let context = RunContext { task, interrupt: &interrupt, changer };
    planned.run(context, plan, Start::After(Box::new(earlier)), tell).map(Some)
}

/// The plan of the rest, by the seed of the beginning, which draws the same order.
pub(super) fn after(plan: Plan, record: Record) -> Result<Plan> {
    let experiment = record.experiment.context("it is not a study")?;
    Ok(Plan {
        id: record.id,
        began: record.began,
        machine: record.machine,
        experiment: Some(experiment),
        so_far: record.trials,
        ..plan
    })
}

/// Everything that decides how fast the machine is has to be as it was: another kernel is another machine, and a setting that
/// somebody changed is no longer the one that was found.
fn is_the_same(record: &Record, host: &HostView) -> Result<()> {
    let told = record.machine.changes(&Fingerprint::of(host));
    if told.is_empty() {
        return Ok(());
    }
    bail!(
        "{}: the machine is not the one that it began on, and trials of both make no experiment:\n{}\nbring that back \
         (`fullclock status` shows what is changed), or begin anew; `fullclock report` shows what there is",
        record.id,
        told.iter().map(|it| format!("  {it}")).collect::<Vec<_>>().join("\n")
    )
}

/// Whether its arms would run what they ran, where they ran it.
fn same_arms(study: &Study<'_>, record: &Record) -> Result<()> {
    for (planned, arm) in study.arms.iter().zip(&record.arms) {
        let cpus = |it: &Option<String>| it.clone().unwrap_or_else(|| "any CPU".to_owned());
        let settings = planned.settings.without_secrets();
        if settings != arm.settings {
            bail!(
                "{}: {} ran on {} and would run on {}: give this process the CPUs that it had, or begin anew",
                record.id,
                arm.name,
                cpus(&arm.settings.cpus),
                cpus(&settings.cpus)
            );
        }
    }
    Ok(())
}

fn latest(place: &Path) -> Result<PathBuf> {
    journals(place).pop().with_context(|| {
        format!("no study in {} was cut short; --results names another folder", place.display())
    })
}

fn of_name(place: &Path, name: &str) -> Result<PathBuf> {
    let folder = if Path::new(name).is_dir() { PathBuf::from(name) } else { place.join(name) };
    match journal_in(&folder) {
        Some(journal) => Ok(journal),
        None if read(&folder).is_ok() => {
            bail!("{name} is complete; `fullclock report {}` writes its report", folder.display())
        }
        None => bail!("there is no study {name} in {}", place.display()),
    }
}
