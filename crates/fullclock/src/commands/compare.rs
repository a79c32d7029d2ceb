//! `fullclock compare`: what can be said of the difference between results.

use crate::cli::{Arguments, CompareArguments};
use crate::output::{self, Style};
use crate::render;
use anyhow::{Context, Result, anyhow, bail};
use lab::compare::Side;
use lab::comparison::{Comparison, between, within};
use lab::record::Record;
use lab::store;
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, options: &CompareArguments) -> Result<ExitCode> {
    let records: Vec<Record> =
        options.results.iter().map(|it| store::read(it)).collect::<Result<_, _>>()?;
    let found = compared(&records, options)?;
    let text = if arguments.output.json {
        render::bench::comparisons_json(&found)?
    } else {
        render::bench::comparisons(&found, Style::of_stdout(&arguments.output))
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn compared(records: &[Record], options: &CompareArguments) -> Result<Vec<Comparison>> {
    let (first, others) = records.split_first().context("there is no result")?;
    let name = |at: usize| options.results[at].display().to_string();
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
