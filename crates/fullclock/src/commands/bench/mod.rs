//! `fullclock bench`: trials of a workload, as many as its figure needs.

pub(super) mod arms;
mod file;
mod oracle;
mod pace;
mod peers;
pub(super) mod progress;
mod session;

use crate::cli::{Arguments, BenchArguments};
use crate::output::{self};
use anyhow::{Context, Result, bail};
use engine::clock::since_1970_ns;
use engine::interrupt::Interrupt;
use engine::measure::costs;
use engine::results_folder::kept_in;
use facts::{CpuSet, HostView, utc};
use host::Live;
use lab::bench::{Plan, PlannedArm};
use lab::comparison::Comparison;
use lab::doubt::Doubt;
use lab::failure::Failure;
use lab::record::{Fingerprint, Record};
use lab::store::Journal;
use lab::workload::Scene;
use pace::Pace;
use report::bench::Report;
pub(crate) use session::Around;
use session::Session;
pub(super) use session::kept;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The workload whose figure is one to compare between machines of one model.
const COMPARED_WITH_PEERS: &str = "cpu-speed";

pub(super) fn run(arguments: &Arguments, options: &BenchArguments) -> Result<ExitCode> {
    if let Some(dialect) = options.print_sql {
        return oracle::print(dialect, options);
    }
    if let Some(file) = &options.parse {
        return oracle::parse(arguments, options, file);
    }
    if !options.peers.is_empty() && options.workload.as_deref() != Some(COMPARED_WITH_PEERS) {
        bail!("--peers compares speeds of {COMPARED_WITH_PEERS}; name that workload");
    }
    // Before a trial: a mistake in a file is told at once.
    let peers = peers::read(&options.peers)?;
    let allowed = host::probe::allowed()?;
    let arms = arms::planned(options, &allowed)?;
    if arms.is_empty() {
        output::print(&report::bench::list(output::style(arguments.output.color)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let interrupt = Interrupt::listen()?;
    let measured = measure(arguments, options, (allowed, arms), &interrupt, None)?;
    let Measured { record, outcome, file, shortfall } = measured;
    let mut report = Report::of(&record, file.as_ref().ok().and_then(Option::as_deref));
    report.shortfall = shortfall;
    report.peers = peers::standing(&record, &peers);
    let printed = print(arguments, &report);
    // What went wrong with the trials comes before what went wrong with keeping them.
    let failed = outcome.err().filter(|it| !matches!(it, Failure::Stopped));
    failed.map_or(Ok(()), |it| {
        let after = after(&record, &it);
        Err(anyhow::Error::new(it).context(after))
    })?;
    file?;
    printed.map(|()| ExitCode::SUCCESS)
}

struct Measured {
    /// The trials with their doubts.
    record: Record,
    outcome: Result<(), Failure>,
    /// Where they are kept.
    file: Result<Option<PathBuf>>,
    shortfall: Option<String>,
}

/// Trials of one workload on two machines in one: as it is, and as `around` makes it for the trials of the second arm. The
/// record is kept as any other; its report as text.
///
/// Errors: the options ask for anything but one workload; a trial failed; the user stopped it.
pub(super) fn before_and_after<'a>(
    arguments: &Arguments,
    options: &BenchArguments,
    interrupt: &Interrupt,
    around: &'a mut Around<'a>,
) -> Result<(Comparison, String)> {
    let allowed = host::probe::allowed()?;
    let [mut before, mut after] =
        [arms::planned(options, &allowed)?, arms::planned(options, &allowed)?];
    let (Some(mut first), Some(mut second), true) = (before.pop(), after.pop(), before.is_empty())
    else {
        bail!("expected one workload, like cpu-loop --cpus 3; `fullclock bench` lists them");
    };
    "before".clone_into(&mut first.name);
    "after".clone_into(&mut second.name);
    let arms = vec![first, second];
    let measured = measure(arguments, options, (allowed, arms), interrupt, Some(around))?;
    measured.outcome?;
    let file = measured.file?;
    let text = report::bench::text(
        &Report::of(&measured.record, file.as_deref()),
        output::style(arguments.output.color),
    );
    let comparison = lab::comparison::within(&measured.record).pop();
    Ok((comparison.context("no trial was run")?, text))
}

fn measure<'a>(
    arguments: &Arguments,
    options: &BenchArguments,
    (allowed, arms): (CpuSet, Vec<PlannedArm>),
    interrupt: &Interrupt,
    around: Option<&'a mut Around<'a>>,
) -> Result<Measured> {
    let host = host::view(&Live::this_machine());
    let temporary = std::env::temp_dir();
    let folder = kept_in(options.no_save, options.results.as_deref())?;
    clear_up(arguments, &temporary, folder.as_deref());
    let plan = Plan { is_whole: around.is_some(), ..plan(&host, &allowed, arms)? };
    let pace = Pace::of(options, plan.arms.len());
    let mut session = Session::new(arguments, folder, pace, around);
    let scene = Scene { host: &host, allowed, temporary, stop: interrupt.flag() };
    let (mut record, outcome) = lab::bench::run(plan, &scene, &mut session)?;
    if record.trials.is_empty() {
        session.discard()?;
        return Err(outcome.err().map_or_else(|| anyhow::anyhow!("no trial was run"), Into::into));
    }
    record.doubts.extend(lab::doubts::of(&record));
    match &outcome {
        Ok(()) | Err(Failure::Stopped) => {}
        Err(Failure::Unkept { .. }) => record.doubts.push(Doubt::CutShort.into()),
        Err(_) => record.doubts.push(Doubt::Failures { trials: 1 }.into()),
    }
    let shortfall = session.shortfall(&record);
    let file =
        session.finish(&arguments.output, &record).context("the result is printed, but not kept");
    Ok(Measured { record, outcome, file, shortfall })
}

/// Takes away what killed runs left, and makes results of their trials.
pub(super) fn clear_up(arguments: &Arguments, temporary: &Path, folder: Option<&Path>) {
    let note = |text: String| output::note(&arguments.output, &text);
    for swept in lab::database::sweep(temporary) {
        note(match swept {
            Ok(folder) => format!("removed {}, of a run that was killed", folder.display()),
            Err(failure) => failure.to_string(),
        });
    }
    for swept in folder.map(lab::store::sweep).unwrap_or_default() {
        note(match swept {
            Ok(result) => format!("{} has the trials of a run that was killed", result.display()),
            Err(failure) => failure.to_string(),
        });
    }
}

fn plan(host: &HostView, allowed: &CpuSet, arms: Vec<PlannedArm>) -> Result<Plan> {
    let (id, began) = moment(arms.first().map_or("", |it| it.workload.id));
    Ok(Plan {
        // The pace decides after every block.
        trials: 1,
        seed: fastrand::u64(..),
        id,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: Fingerprint::of(host),
        costs: costs::costs(host, allowed),
        began,
        arms,
        is_whole: false,
        warm_up: 0,
        experiment: None,
        so_far: Vec::new(),
        boot: None,
    })
}

/// What a result of this workload is called that begins at this moment, and the moment.
pub(super) fn moment(workload: &str) -> (String, String) {
    let began = utc::timestamp(since_1970_ns());
    // 20261120T154305Z-cpu-loop: sorts by time, and is a name for a file.
    let moment: String = began.chars().filter(|it| !"-:".contains(*it)).take(15).collect();
    (format!("{moment}Z-{workload}"), began)
}

/// Keeps a result that is complete; its path.
fn keep(
    arguments: &Arguments,
    options: &BenchArguments,
    record: &mut Record,
) -> Result<Option<PathBuf>> {
    let Some(folder) = kept_in(options.no_save, options.results.as_deref())? else {
        return Ok(None);
    };
    let journal = Journal::begin(&folder, record)?;
    let path = kept(journal, &arguments.output, record);
    path.map(Some).context("the result is printed, but not kept")
}

fn print(arguments: &Arguments, report: &Report<'_>) -> Result<()> {
    let text = if arguments.output.json {
        report::bench::json(report)?
    } else {
        report::bench::text(report, output::style(arguments.output.color))
    };
    output::print(&text)
}

fn after(record: &Record, failure: &Failure) -> String {
    match record.trials.len() {
        n if matches!(failure, Failure::Unkept { .. }) => format!("ended at trial {n}"),
        1 => "the trial after the first one failed".to_owned(),
        n => format!("the trial after {n} good ones failed"),
    }
}
