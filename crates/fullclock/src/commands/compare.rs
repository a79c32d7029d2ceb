//! `fullclock compare`: what can be said of the difference between results.

use crate::cli::Arguments;
use crate::head::head;
use crate::result::ResultArguments;
use anyhow::{Context, Result};
use clap::Args;
use engine::results_folder::results_folder;
use lab::comparison::{compared, sides};
use lab::record::Record;
use lab::store::{self, History};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args, Debug)]
pub(crate) struct CompareArguments {
    /// Results that `fullclock bench` kept: the first is A, the others are compared with it. Each is a file, or an id
    /// that `fullclock history` shows, or a beginning of it that no other id has
    #[arg(value_name = "RESULT", required = true)]
    pub(crate) compared: Vec<PathBuf>,
    /// The folder of the results that ids are of [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) result: ResultArguments,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock compare before.json after.json       two moments, or two machines
  fullclock compare db1.json db2.json db3.json   each with the first
  fullclock compare ab.json                      what one --vs measured
  fullclock compare 20261120T1543 20261121       of the history, by their ids
  fullclock compare a.json b.json -o compared.html";

pub(super) fn run(arguments: &Arguments, options: &CompareArguments) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    let results = options.results.as_deref();
    let records: Vec<Record> = options
        .compared
        .iter()
        .map(|it| Ok(store::read(&file(it, results)?)?))
        .collect::<Result<_>>()?;
    let given: Vec<String> = options.compared.iter().map(|it| it.display().to_string()).collect();
    let sides = sides(&records, &given);
    let found = compared(&records, &sides, &given)?;
    destination.print(&match destination.format() {
        None => report::bench::comparisons_json(&head(arguments), &found)?,
        Some(format) => report::bench::comparisons(&found, &sides, &given).render(format),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The file that is meant. What names no file, and has no folder in it, is an id or its beginning.
pub(super) fn file(given: &Path, results: Option<&Path>) -> Result<PathBuf> {
    let id = given.to_str().filter(|it| !it.is_empty() && !it.contains('/') && !given.exists());
    let Some(id) = id else { return Ok(given.to_owned()) };
    let found = History::open(&results_folder(results)?)?.find(id);
    Ok(found.with_context(|| format!("there is no file {id}"))?.path)
}
