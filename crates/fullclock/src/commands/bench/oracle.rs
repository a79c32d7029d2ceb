//! What a DBA runs inside Oracle: its script, and what that printed, which becomes a result like any other.

use super::file::text_of;
use super::keep;
use crate::cli::Arguments;
use crate::commands::bench::options::{BenchArguments, Dialect};
use crate::output;
use anyhow::{Context, Result, bail};
use engine::bench::moment;
use lab::oracle::{commit, cpu_speed, plsql_loop};
use lab::record::Record;
use report::bench::Report;
use std::path::Path;
use std::process::ExitCode;

/// What the published test counts to.
const ITERATIONS: u64 = 10_000_000;

pub(super) fn print(dialect: Dialect, options: &BenchArguments) -> Result<ExitCode> {
    let Dialect::Oracle = dialect;
    let script = match options.workload.as_deref() {
        Some("plsql-loop") => plsql_loop::script(options.work.iterations.unwrap_or(ITERATIONS)),
        Some("cpu-speed") => cpu_speed::SCRIPT.to_owned(),
        Some("commit") => commit::SCRIPT.to_owned(),
        other => bail!("{}", no_script(other)),
    };
    output::print(&script)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn parse(
    arguments: &Arguments,
    options: &BenchArguments,
    file: &Path,
) -> Result<ExitCode> {
    let text = text_of(file)?;
    let name = file.display().to_string();
    let mut record = read(options.workload.as_deref(), &text).with_context(|| name.clone())?;
    (record.id, record.began) = moment(&record.arms[0].workload);
    env!("CARGO_PKG_VERSION").clone_into(&mut record.version);
    record.arms[0].about.push(("read from".to_owned(), name));
    let file = keep(arguments, options, &mut record);
    super::print(arguments, &Report::of(&record, file.as_ref().ok().and_then(Option::as_deref)))?;
    file.map(|_| ExitCode::SUCCESS)
}

fn read(workload: Option<&str>, text: &str) -> Result<Record> {
    Ok(match workload {
        Some("plsql-loop") => plsql_loop::parse(text)?.record(),
        Some("cpu-speed") => cpu_speed::result(cpu_speed::parse(text)?),
        Some("commit") => commit::result(&commit::parse(text)?),
        other => bail!("{}", no_script(other)),
    })
}

fn no_script(workload: Option<&str>) -> String {
    let workload = workload.unwrap_or("no workload");
    format!(
        "there is no script for {workload}; there are those of plsql-loop, cpu-speed and commit"
    )
}
