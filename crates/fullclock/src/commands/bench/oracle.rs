//! What a DBA runs inside Oracle: its script, and what that printed.

use crate::cli::{Arguments, BenchArguments, Dialect};
use crate::commands::text_of;
use crate::output;
use anyhow::{Context, Result, bail};
use lab::oracle::{cpu_speed, plsql_loop};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// What the published test counts to.
const ITERATIONS: u64 = 10_000_000;

pub(super) fn print(dialect: Dialect, options: &BenchArguments) -> Result<ExitCode> {
    let Dialect::Oracle = dialect;
    let script = match options.workload.as_deref() {
        Some("plsql-loop") => plsql_loop::script(options.work.iterations.unwrap_or(ITERATIONS)),
        Some("cpu-speed") => cpu_speed::SCRIPT.to_owned(),
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
    let printed = match options.workload.as_deref() {
        Some("plsql-loop") => of_loop(&plsql_loop::parse(&text).context(name)?),
        Some("cpu-speed") => {
            let speed = cpu_speed::parse(&text).context(name)?;
            (
                json!({ "cpuspeednw": speed }),
                format!("CPUSPEEDNW {speed} million operations per second\n"),
            )
        }
        other => bail!("{}", no_script(other)),
    };
    let (value, words) = printed;
    output::print(&if arguments.output.json { format!("{value:#}\n") } else { words })?;
    Ok(ExitCode::SUCCESS)
}

fn no_script(workload: Option<&str>) -> String {
    let workload = workload.unwrap_or("no workload");
    format!("there is no script for {workload}; there are those of plsql-loop and cpu-speed")
}

fn of_loop(output: &plsql_loop::Output) -> (serde_json::Value, String) {
    let run = |it: &plsql_loop::Run| json!({ "answer": it.answer, "elapsed_ns": it.elapsed_ns });
    let runs: Vec<serde_json::Value> = output.runs.iter().map(run).collect();
    let line = |it: &plsql_loop::Run| {
        format!("{:.2} in {:.2} s, the right answer\n", it.answer, it.elapsed_ns as f64 / 1e9)
    };
    let heading = format!("plsql-loop in Oracle, {} iterations\n", output.iterations);
    let words = output.runs.iter().fold(heading, |text, it| text + "  " + &line(it));
    (json!({ "iterations": output.iterations, "runs": runs }), words)
}
