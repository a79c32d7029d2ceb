//! `cargo xtask test`: everything that has to pass before a change goes in.
//!
//! It asks for nothing but Rust and, for the test bench, Debian; stops at the first stage that
//! fails; and ends with a line that counts the tests.

use std::process::{ExitCode, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow, ensure};
use testbench::packages::{self, Package};

use crate::cargo::{
    self, binaries, build_binaries, cargo, mortal, program, run_tests, strip_mortal, test,
};
use crate::stage::{seconds, stage};
use crate::tally::Tally;
use crate::{browser, databases, debian, served};

/// Parts of the Rust toolchain that stages need, and the cargo command each brings.
const COMPONENTS: [(&str, &str); 2] = [("rustfmt", "fmt"), ("clippy", "clippy")];

/// Runs all stages.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "'cargo xtask test' takes no arguments");
    let started = Instant::now();
    stage("Debian packages", || {
        let packages =
            [packages::PACKAGES, databases::PACKAGES, browser::PACKAGES, served::PACKAGES].concat();
        databases::without_servers(|| debian::install(&packages))
    })?;
    stage("Rust components", install_components)?;
    stage("style", || cargo::run(cargo(&["fmt", "--all", "--check"])))?;
    stage("lints", || {
        cargo::run(cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    })?;
    stage("tests to be run", || {
        cargo::run(test(&["--no-run"]))?;
        strip_mortal()
    })?;
    let mut tally = thread::scope(|scope| {
        // Into folders of their own, with what tests that wait for disks and browsers leave of the CPUs: what a thread starts is as
        // nice as the thread (sched(7)).
        let builds = scope.spawn(|| {
            rustix::process::nice(19)?;
            build_binaries()
        });
        let tally = run_what_is_built()?;
        stage("release build", || {
            builds.join().map_err(|_| anyhow!("their building panicked"))?
        })?;
        Ok::<_, anyhow::Error>(tally)
    })?;
    if let Some(scenarios) = stage_with(packages::PACKAGES, "test bench", run_scenarios)? {
        tally += scenarios;
    }
    println!("\nall stages: {}", seconds(started.elapsed()));
    println!("{} passed, {} failed", tally.passed, tally.failed);
    Ok(ExitCode::SUCCESS)
}

/// The tests that boot nothing, and others who ask the program.
fn run_what_is_built() -> Result<Tally> {
    let mut tally = stage("tests", || run_tests(test(&[])))?;
    tally += stage("changes that are killed", || {
        run_tests(test(&["--test", "changes", "--", "--ignored"]))
    })?;
    if let Some(pages) = stage_with(browser::PACKAGES, "pages in a browser", browser::open_pages)? {
        tally += pages;
    }
    stage_with(served::PACKAGES, "served to others", served::ask)?;
    Ok(tally)
}

/// A stage that is left out on a machine without the packages it needs.
fn stage_with<T>(
    packages: &[Package],
    name: &str,
    work: impl FnOnce() -> Result<T>,
) -> Result<Option<T>> {
    if are_installed(packages) {
        return stage(name, work).map(Some);
    }
    println!("\n=== {name}: left out, for packages are missing (see above)");
    Ok(None)
}

fn are_installed(packages: &[Package]) -> bool {
    packages.iter().all(Package::is_installed)
}

/// The tests that boot machines, with the programs just built.
fn run_scenarios() -> Result<Tally> {
    // Up to a dozen neighbours by name wait for the same few boots; the other threads boot others meanwhile.
    let mut command = test(&["--test", "scenarios", "--", "--ignored", "--test-threads=16"]);
    let [fullclock, thief] = binaries();
    command.env("FULLCLOCK_BINARY", fullclock).env("THIEF_BINARY", thief);
    command.env("MORTAL_BINARY", mortal());
    run_tests(command)
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
