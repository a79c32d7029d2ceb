//! `fullclock diff`: in what two hosts differ, or one before and after.

use crate::cli::Arguments;
use crate::head::head;
use crate::output;
use crate::result::ResultArguments;
use anyhow::Result;
use clap::Args;
use engine::fleet::one;
use fleet::Machine;
use report::difference::{Report, document, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Which two hosts.
#[derive(Args, Debug)]
pub(crate) struct DiffArguments {
    /// A capture, an audit in JSON, a folder or archive that holds proc/ and sys/; `live` or `-` for this machine
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The other one
    #[arg(value_name = "B")]
    b: PathBuf,
    /// List every fact that differs, not the first 20
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    result: ResultArguments,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock diff db1.host db2.host          a slow machine and its twin
  fullclock diff before.host live           what changed here since a capture
  fullclock diff monday.json friday.json    audits in JSON
  fullclock diff sosreport-a.tar.xz sosreport-b.tar.xz -o diff.html
  fullclock diff -q a.host b.host >/dev/null || echo they differ";

/// What stands for this machine.
const LIVE: [&str; 2] = ["live", "-"];

/// What exits with 1.
const DIFFERS: u8 = 1;

pub(super) fn run(arguments: &Arguments, options: &DiffArguments) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    let what = "reading both hosts ...";
    let [a, b] = output::with_progress(&arguments.output, what, || {
        anyhow::Ok([machine(&options.a)?, machine(&options.b)?])
    })?;
    let names = [&options.a, &options.b].map(|it| named(it));
    let comparison = fleet::compared(&a, &b);
    let report = Report {
        names: names.each_ref().map(String::as_str),
        machines: [&a, &b],
        comparison: &comparison,
        notes: &[],
        all: options.all,
    };
    destination.print(&match destination.format() {
        None => json(&head(arguments), &report)?,
        Some(format) => document(&report).render(format),
    })?;
    let is_same = comparison.differences.is_empty();
    Ok(if is_same { ExitCode::SUCCESS } else { ExitCode::from(DIFFERS) })
}

fn is_live(path: &Path) -> bool {
    LIVE.iter().any(|it| path.as_os_str() == *it)
}

fn named(path: &Path) -> String {
    if is_live(path) { "this machine".to_owned() } else { path.display().to_string() }
}

fn machine(path: &Path) -> Result<Machine> {
    if is_live(path) { one::this_machine() } else { one::machine(path) }
}
