//! `fullclock experiment resume`: goes on with a study that was cut short, without repeating a trial.

use super::study::{self, journals};
use super::{Begin, Means, Study, boots, folder, machine};
use crate::cli::{Arguments, ExperimentArguments};
use crate::output;
use anyhow::{Context, Result, bail};
use engine::interrupt::Interrupt;
use facts::HostView;
use host::Live;
use lab::bench::Plan;
use lab::record::{Fingerprint, Record};
use lab::store::Journal;
use report::experiment::Study as Told;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What an earlier run left.
pub(super) struct Earlier {
    pub(super) journal: Journal,
    pub(super) record: Record,
    pub(super) folder: PathBuf,
}

pub(super) fn run(
    arguments: &Arguments,
    options: &ExperimentArguments,
    named: &[String],
) -> Result<ExitCode> {
    refuse_other_options(options)?;
    let place = folder(options)?;
    let journal = match named {
        [] => latest(&place)?,
        [one] => of_name(&place, one)?,
        _ => bail!("resume goes on with one study; give its id, or none for the latest"),
    };
    let (journal, record) = Journal::resume(&journal)?;
    let folder = journal.folder().to_owned();
    let experiment =
        record.experiment.clone().context("it is a result of `fullclock bench`, and no study")?;
    let changer =
        if options.dry_run { None } else { machine::recover(arguments, &options.state.state_dir)? };
    let host = host::view(&Live::this_machine());
    match experiment.design.boots {
        None => is_the_same(&record, &host)?,
        Some(_) => {
            for line in boots::is_the_same_machine(&record, &experiment, &host)? {
                output::note(&arguments.output, &format!("in this boot {line}"));
            }
        }
    }
    let text = format!("going on with {} behind {} trials", record.id, record.trials.len());
    output::note(&arguments.output, &text);
    let seed = experiment.seed;
    let planned = Study::of(experiment.design, &host, options)?;
    if planned.combinations != experiment.arms {
        bail!(
            "{}: its arms are not those that this version makes of its plan; begin anew",
            record.id
        );
    }
    same_arms(&planned, &record)?;
    if options.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    let interrupt = Interrupt::listen()?;
    let plan = planned.plan(seed)?;
    let earlier = Earlier { journal, record, folder };
    let tell = |it: &Told<'_>| study::words(arguments, it);
    let means = Means { arguments, options, interrupt: &interrupt, changer, tell: &tell };
    planned.run(means, plan, Begin::Behind(Box::new(earlier)))
}

/// The plan of the rest, by the seed of the beginning, which draws the same order.
pub(super) fn behind(plan: Plan, record: Record) -> Result<Plan> {
    let experiment = record.experiment.context("it is no study")?;
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
    let told = differences(&record.machine, host);
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

/// In what a machine differs from what it was: `scaling_governor was performance and is powersave`.
pub(super) fn differences(before: &Fingerprint, host: &HostView) -> Vec<String> {
    let here = Fingerprint::of(host);
    let names: BTreeSet<&String> = before.0.keys().chain(here.0.keys()).collect();
    let shown = |it: Option<&String>| it.map_or("unknown", String::as_str).to_owned();
    let differs = |name: &&String| before.0.get(*name) != here.0.get(*name);
    let line = |name: &String| {
        let (was, is) = (before.0.get(name), here.0.get(name));
        format!("{name} was {} and is {}", shown(was), shown(is))
    };
    names.into_iter().filter(differs).map(line).collect()
}

/// The plan of a study is what it began with.
fn refuse_other_options(options: &ExperimentArguments) -> Result<()> {
    let given = [
        ("--workload", !options.workloads.is_empty()),
        ("--shape", options.shape.is_some()),
        ("--trials", options.trials.is_some()),
        ("--until", options.until.is_some()),
        ("--warm-up", options.warm_up.is_some()),
        ("--rest", options.rest.is_some()),
        ("--budget", options.budget.is_some()),
        ("--boots", options.boots.is_some()),
        ("--seed", options.seed.is_some()),
        ("--max-temperature", options.max_temperature.is_some()),
        ("--max-stolen", options.max_stolen.is_some()),
        ("--max-other-load", options.max_other_load.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => bail!("{option}: a study goes on as it was planned; leave it out"),
    }
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
    match study::journal_in(&folder) {
        Some(journal) => Ok(journal),
        None if study::read(&folder).is_ok() => {
            bail!("{name} is complete; `fullclock report {}` writes its report", folder.display())
        }
        None => bail!("there is no study {name} in {}", place.display()),
    }
}
