//! `fullclock bench`: trials of a workload, as many as its figure needs.

pub(super) mod arms;
mod file;
pub(super) mod options;
mod oracle;
mod peers;

use crate::cli::Arguments;
use crate::commands::bench::options::BenchArguments;
use crate::output;
use crate::tell::tell;
use anyhow::{Context, Result, bail};
use engine::bench::{Measured, Wanted, kept, measure};
use engine::interrupt::Interrupt;
use engine::results_folder::kept_in;
use lab::failure::Failure;
use lab::record::Record;
use lab::store::Journal;
use report::bench::Report;
use std::path::PathBuf;
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
    let folder = kept_in(options.no_save, options.results.as_deref())?;
    let mut tell = tell(arguments);
    let measured = measure(arms, wanted(options), folder.as_deref(), &interrupt, None, &mut tell)?;
    drop(tell);
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

/// How many trials the options want.
pub(super) fn wanted(options: &BenchArguments) -> Wanted {
    Wanted { trials: options.trials, until: options.until, limit: options.limit }
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
    let path = kept(journal, record, &mut tell(arguments));
    path.map(Some).context("the result is printed, but not kept")
}

/// Prints a result as text or as JSON.
pub(super) fn print(arguments: &Arguments, report: &Report<'_>) -> Result<()> {
    if arguments.output.json {
        return report::bench::json(report)?.try_for_each(|piece| output::print(&piece?));
    }
    output::print(&report::bench::text(report, output::style(arguments.output.color)))
}

fn after(record: &Record, failure: &Failure) -> String {
    match record.trials.len() {
        n if matches!(failure, Failure::Unkept { .. }) => format!("ended at trial {n}"),
        1 => "the trial after the first one failed".to_owned(),
        n => format!("the trial after {n} good ones failed"),
    }
}
