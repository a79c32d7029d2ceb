//! `fullclock experiment`: settings by workloads, run in random order and settled by analysis, with a report.

mod design_args;
pub(super) mod options;
mod study;

pub(super) use study::{end, workloads};

use super::change::{command_words, refuse_other_host};
use crate::cli::Arguments;
use crate::commands::experiment::options::{ExperimentArguments, ReportArguments};
use crate::tell::tell;
use anyhow::{Result, bail};
use engine::experiment::{Task, begin, earlier, reserve, resume};
use host::Live;
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, options: &ExperimentArguments) -> Result<ExitCode> {
    refuse_other_host(arguments)?;
    if let [first, named @ ..] = &options.what[..]
        && first == "resume"
    {
        return go_on(arguments, options, named);
    }
    let mut tell = tell(arguments);
    let changer = match options.dry_run {
        true => None,
        false => reserve(&options.state.state_dir, &mut tell)?,
    };
    let host = host::view(&Live::this_machine());
    let design = design_args::design(options, &host)?;
    let workloads = workloads(&design)?;
    let ran = begin(design, &workloads, &host, changer, &task(options), &mut tell)?;
    drop(tell);
    ran.map_or(Ok(ExitCode::SUCCESS), |it| {
        end(arguments, it, &|study| study::words(arguments, study))
    })
}

/// `fullclock experiment resume`.
fn go_on(
    arguments: &Arguments,
    options: &ExperimentArguments,
    named: &[String],
) -> Result<ExitCode> {
    design_args::refuse_on_resume(options)?;
    let name = match named {
        [] => None,
        [one] => Some(one.as_str()),
        _ => bail!("resume goes on with one study; give its id, or none for the latest"),
    };
    let earlier = earlier(options.results.as_deref(), name)?;
    let workloads = workloads(&earlier.experiment()?.design)?;
    let mut tell = tell(arguments);
    let changer = match options.dry_run {
        true => None,
        false => reserve(&options.state.state_dir, &mut tell)?,
    };
    let host = host::view(&Live::this_machine());
    let ran = resume(earlier, &workloads, &host, changer, &task(options), &mut tell)?;
    drop(tell);
    ran.map_or(Ok(ExitCode::SUCCESS), |it| {
        end(arguments, it, &|study| study::words(arguments, study))
    })
}

fn task(options: &ExperimentArguments) -> Task<'_> {
    Task {
        i_know: options.i_know,
        dry_run: options.dry_run,
        seed: options.seed,
        results: options.results.as_deref(),
        command: command_words(),
    }
}

/// `fullclock report STUDY`.
pub(super) fn report(arguments: &Arguments, options: &ReportArguments) -> Result<ExitCode> {
    let (record, folder) = engine::experiment::read(&options.study)?;
    let to = options.to.as_deref().unwrap_or(&folder);
    study::report(arguments, &record, to, &|it| study::words(arguments, it))?;
    Ok(ExitCode::SUCCESS)
}
