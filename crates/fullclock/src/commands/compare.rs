//! `fullclock compare`: what can be said of the difference between results.

use crate::cli::Arguments;
use crate::complete;
use crate::head::{head, head_of_file};
use crate::result::{Destination, ResultArguments};
use crate::tell::tell;
use anyhow::{Context, Result, bail};
use clap::Args;
use clap_complete::engine::ArgValueCandidates;
use engine::earlier::{earlier_runs, folders_of};
use engine::results_folder::results_folder;
use facts::quantity::percent;
use host::tape::is_tape;
use lab::compare::Terms;
use lab::comparison::{Comparison, compared, of_each, sides, sides_of_each};
use lab::record::Record;
use lab::store::{self, History};
use report::document::Document;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args, Debug)]
pub(crate) struct CompareArguments {
    /// Results that `fullclock bench` kept: the first is A, the others are compared with it. Each is a file, or an id
    /// that `fullclock history` shows, or a beginning of it that no other id has. Or two recordings of a client's runs by
    /// `fullclock watch --record`: why B does less than A
    #[arg(value_name = "RESULT", required = true, add = ArgValueCandidates::new(complete::results))]
    pub(crate) compared: Vec<PathBuf>,
    /// Results of B, where the others are of A: three or more of each. What differs from run to run is then in the interval
    #[arg(long, value_name = "RESULT", num_args = 1.., add = ArgValueCandidates::new(complete::results))]
    pub(crate) vs: Vec<PathBuf>,
    /// Ask whether they are the same within this: 1%
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) same: Option<f64>,
    /// The folder of the results that ids are of, and of earlier ones, which say what two runs of the same differ by [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) result: ResultArguments,
}

/// Results by what the user calls them.
struct Given {
    names: Vec<String>,
    files: Vec<PathBuf>,
    records: Vec<Record>,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock compare before.json after.json       two moments, or two machines
  fullclock compare db1.json db2.json db3.json   each with the first
  fullclock compare ab.json                      what one --vs measured
  fullclock compare 20261120T1543 20261121       of the history, by their ids
  fullclock compare a1.json a2.json a3.json --vs b1.json b2.json b3.json
  fullclock compare ab.json --same 1%            is it the same, within 1 %?
  fullclock compare a.json b.json -o compared.html
  fullclock compare monday.tape friday.tape      why a client's run was slower";

pub(super) fn run(arguments: &Arguments, options: &CompareArguments) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    if options.compared.iter().chain(&options.vs).any(|it| is_tape(it)) {
        return of_recordings(arguments, options, &destination);
    }
    let results = options.results.as_deref();
    let read = |paths: &[PathBuf]| Given::read(paths, results);
    let (found, document) = match (&options.compared[..], &options.vs[..]) {
        (all, []) => in_turn(&read(all)?, options)?,
        ([a], [b]) => in_turn(&read(&[a.clone(), b.clone()])?, options)?,
        (a, b) => {
            let (a, b) = (read(a)?, read(b)?);
            let sides = [&a, &b].map(|it| sides_of_each(&it.records, &it.names));
            let terms = Terms { margin: options.same, ..Terms::of(1) };
            let found = of_each(&sides[0], &sides[1], &terms)?;
            let document = report::bench::of_each(&found, &sides[0], &sides[1]);
            (vec![found], document)
        }
    };
    destination.print(&match destination.format() {
        None => report::bench::comparisons_json(&head(arguments), &found)?,
        Some(format) => document.render(format),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Why one recorded run of a client differs from another.
fn of_recordings(
    arguments: &Arguments,
    options: &CompareArguments,
    destination: &Destination,
) -> Result<ExitCode> {
    let (a, b) = match (&options.compared[..], &options.vs[..]) {
        ([a, b], []) | ([a], [b]) if is_tape(a) && is_tape(b) => (a, b),
        ([_, _], []) | ([_], [_]) => bail!(
            "one is a recording and the other is not: compare two recordings, or results of bench"
        ),
        _ => bail!("recordings are compared two at a time: fullclock compare A.tape B.tape"),
    };
    if options.same.is_some() {
        bail!("--same is for results of bench: leave it out with recordings");
    }
    let found = engine::why::compared(a, b, &mut tell(arguments))?;
    let names = [a, b].map(|it| it.display().to_string());
    let report = report::why::Report {
        names: names.each_ref().map(String::as_str),
        why: &found.why,
        notes: &found.notes,
    };
    destination.print(&match destination.format() {
        None => report::why::json::json(&head_of_file(arguments, b), &report)?,
        Some(format) => report::why::document(&report).render(format),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The first result compared with each other one, or the arms of a single one.
fn in_turn(given: &Given, options: &CompareArguments) -> Result<(Vec<Comparison>, Document)> {
    let Given { names, files, records } = given;
    let sides = sides(records, names);
    let earlier = earlier_runs(&sides, &folders_of(files, options.results.as_deref()));
    let found = compared(records, &sides, names, &earlier, options.same)?;
    let document = report::bench::comparisons(&found, &sides, names);
    Ok((found, document))
}

impl Given {
    fn read(paths: &[PathBuf], results: Option<&Path>) -> Result<Given> {
        let files: Vec<PathBuf> =
            paths.iter().map(|it| file(it, results)).collect::<Result<_>>()?;
        let records = files.iter().map(|it| store::read(it)).collect::<Result<_, _>>()?;
        let names = paths.iter().map(|it| it.display().to_string()).collect();
        Ok(Given { names, files, records })
    }
}

/// The file that is meant. What names no file, and has no folder in it, is an id or its beginning.
pub(super) fn file(given: &Path, results: Option<&Path>) -> Result<PathBuf> {
    let id = given.to_str().filter(|it| !it.is_empty() && !it.contains('/') && !given.exists());
    let Some(id) = id else { return Ok(given.to_owned()) };
    let found = History::open(&results_folder(results)?)?.find(id);
    Ok(found.with_context(|| format!("there is no file {id}"))?.path)
}
