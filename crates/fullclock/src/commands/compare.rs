//! `fullclock compare`: what can be said of the difference between results.

use crate::cli::{Arguments, CompareArguments};
use crate::output::{self, Style};
use crate::render;
use crate::results_folder::results_folder;
use anyhow::{Context, Result, anyhow, bail};
use lab::compare::Side;
use lab::comparison::{Comparison, between, within};
use lab::record::Record;
use lab::store::{self, History};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, options: &CompareArguments) -> Result<ExitCode> {
    let results = options.results.as_deref();
    let records: Vec<Record> = options
        .compared
        .iter()
        .map(|it| Ok(store::read(&file(it, results)?)?))
        .collect::<Result<_>>()?;
    let found = compared(&records, options)?;
    let text = if arguments.output.json {
        render::bench::comparisons_json(&found)?
    } else {
        render::bench::comparisons(&found, Style::of_stdout(&arguments.output))
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The file that is meant. What names no file, and has no folder in it, is an id or its beginning.
fn file(given: &Path, results: Option<&Path>) -> Result<PathBuf> {
    let id = given.to_str().filter(|it| !it.is_empty() && !it.contains('/') && !given.exists());
    let Some(id) = id else { return Ok(given.to_owned()) };
    let found = History::open(&results_folder(results)?)?.find(id);
    Ok(found.with_context(|| format!("there is no file {id}"))?.path)
}

fn compared(records: &[Record], options: &CompareArguments) -> Result<Vec<Comparison>> {
    let (first, others) = records.split_first().context("there is no result")?;
    let name = |at: usize| options.compared[at].display().to_string();
    if others.is_empty() {
        if first.arms.len() < 2 {
            bail!("{} has one arm; give a second result to compare it with", name(0));
        }
        return Ok(within(first));
    }
    let pair = |(at, other): (usize, &Record)| {
        // Of several, each is called by its id.
        let names = if others.len() == 1 { ["A", "B"] } else { [&*first.id, &*other.id] };
        let [a, b] = names;
        let compared = between(
            Side { name: a, record: first, arm: 0 },
            Side { name: b, record: other, arm: 0 },
        );
        let context = || format!("{} and {}", name(0), name(at));
        compared.map_err(|why| anyhow!(why)).with_context(context)
    };
    (1..).zip(others).map(pair).collect()
}
