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
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, options: &CompareArguments) -> Result<ExitCode> {
    let results = options.results.as_deref();
    let records: Vec<Record> = options
        .compared
        .iter()
        .map(|it| Ok(store::read(&file(it, results)?)?))
        .collect::<Result<_>>()?;
    let given: Vec<String> = options.compared.iter().map(|it| it.display().to_string()).collect();
    let sides = sides(&records, &given);
    let found = compared(&records, &sides, &given)?;
    let text = if arguments.output.json {
        render::bench::comparisons_json(&found)?
    } else {
        render::bench::comparisons(&found, &sides, &given, Style::of_stdout(&arguments.output))
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What `fullclock compare` says of these results, as text and as JSON. `given` is what to call them.
///
/// Errors: one is none, or there is nothing to compare it with.
pub(crate) fn words(files: &[PathBuf], given: &[String]) -> Result<(String, String)> {
    let records: Vec<Record> =
        files.iter().map(|it| Ok(store::read(it)?)).collect::<Result<_>>()?;
    let sides = sides(&records, given);
    let found = compared(&records, &sides, given)?;
    let style = Style { color: false, width: 100 };
    let text = render::bench::comparisons(&found, &sides, given, style);
    Ok((text, render::bench::comparisons_json(&found)?))
}

/// The file that is meant. What names no file, and has no folder in it, is an id or its beginning.
pub(super) fn file(given: &Path, results: Option<&Path>) -> Result<PathBuf> {
    let id = given.to_str().filter(|it| !it.is_empty() && !it.contains('/') && !given.exists());
    let Some(id) = id else { return Ok(given.to_owned()) };
    let found = History::open(&results_folder(results)?)?.find(id);
    Ok(found.with_context(|| format!("there is no file {id}"))?.path)
}

/// What is compared, by its name.
fn sides<'a>(records: &'a [Record], given: &'a [String]) -> Vec<Side<'a>> {
    let first_arm = |name, record| Side { name, record, arm: 0 };
    match records {
        [one] => {
            let arms = one.arms.iter().enumerate();
            arms.map(|(arm, it)| Side { name: &it.name, record: one, arm }).collect()
        }
        [a, b] => vec![first_arm("A", a), first_arm("B", b)],
        several => {
            // Machines that began in the same second have results of one id.
            let ids: BTreeSet<&str> = several.iter().map(|it| it.id.as_str()).collect();
            let are_told_apart = ids.len() == several.len();
            let each = several.iter().zip(given);
            each.map(|(it, given)| first_arm(if are_told_apart { &it.id } else { given }, it))
                .collect()
        }
    }
}

fn compared(records: &[Record], sides: &[Side<'_>], given: &[String]) -> Result<Vec<Comparison>> {
    let (first, others) = sides.split_first().context("there is no result")?;
    if let [one] = records {
        if others.is_empty() {
            bail!("{} has one arm; give a second result to compare it with", given[0]);
        }
        return Ok(within(one));
    }
    let pair = |(at, other): (usize, &Side<'_>)| {
        let context = || format!("{} and {}", given[0], given[at]);
        between(*first, *other).map_err(|why| anyhow!(why)).with_context(context)
    };
    (1..).zip(others).map(pair).collect()
}
