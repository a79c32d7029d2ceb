//! `cargo xtask check`: format, lints and every test that boots nothing. What to run while working.

use std::process::{ExitCode, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow, ensure};

use crate::cargo::{self, cargo, program};
use crate::stage::{print_tally, stage};
use crate::suites::{self, Suite};
use crate::tally::Tally;

/// Parts of the Rust toolchain that stages need, and the cargo command each brings.
const COMPONENTS: [(&str, &str); 2] = [("rustfmt", "fmt"), ("clippy", "clippy")];

/// `cargo xtask check`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "'cargo xtask check' takes no arguments");
    let started = Instant::now();
    let (_, tally) = check(|_| Ok(Tally::default()))?;
    print_tally(tally, started.elapsed());
    Ok(ExitCode::SUCCESS)
}

/// Runs it, and `more` before the tests that run alone; what was built can be run again.
pub(crate) fn check(more: impl FnOnce(&[Suite]) -> Result<Tally>) -> Result<(Vec<Suite>, Tally)> {
    stage("Rust components", install_components)?;
    stage("format", || cargo::run(cargo(&["fmt", "--all", "--check"])))?;
    let suites = stage("tests to be run", suites::build)?;
    let tally = thread::scope(|scope| {
        // Into what tests leave of the CPUs while they wait: what a thread starts is as nice as the thread (sched(7)).
        let lints = scope.spawn(|| {
            rustix::process::nice(19)?;
            lints()
        });
        let beside = stage("tests", || suites::run_beside(&suites));
        let tally = beside.and_then(|it| Ok(it + more(&suites)?));
        let linted = stage("lints", || lints.join().map_err(|_| anyhow!("they panicked"))?);
        linted.and(tally)
    })?;
    let alone = stage("tests that run alone", || suites::run_alone(&suites))?;
    Ok((suites, tally + alone))
}

/// As `cargo test` builds it: with another choice of features, cargo would look at much of the same again.
fn lints() -> Result<()> {
    let arguments = ["--workspace", "--all-targets", "--features", "fullclock/faults"];
    let mut clippy = cargo(&["clippy", "--quiet"]);
    clippy.args(arguments).args(["--", "-D", "warnings"]);
    cargo::run(clippy)
}

/// Adds what the toolchain lacks, if rustup is there to add it.
fn install_components() -> Result<()> {
    for (component, command) in COMPONENTS {
        let mut version = cargo(&[command, "--version"]);
        version.stdout(Stdio::null()).stderr(Stdio::null());
        if !version.status().is_ok_and(|status| status.success()) {
            cargo::run(program("rustup", &["component", "add", component]))?;
        }
    }
    Ok(())
}
