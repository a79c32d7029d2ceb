//! `cargo xtask sweep`: everything that takes long. To be run before a change of the journal, the guard, a study, a parser of
//! foreign data or `serve` is called done.
//!
//! It holds all of `cargo xtask test`, and in place of the parts that are tried at a few points there, all points.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};
use testbench::packages;

use crate::cargo::build_binaries;
use crate::check::check;
use crate::stage::{print_tally, stage};
use crate::suites;
use crate::test::{
    Length, USUAL_CLIENTS, install, run_real_clients, run_scenarios, run_what_waits, stage_with,
};
use crate::{aa, engines, fuzz, served, sushy, venv};

/// `cargo xtask sweep`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "'cargo xtask sweep' takes no arguments");
    let started = Instant::now();
    stage("Debian packages", || install(&[fuzz::PACKAGES, served::SWEEP_PACKAGES].concat()))?;
    let (suites, mut tally) = check(run_what_waits)?;
    tally += run_real_clients(&suites, USUAL_CLIENTS)?;
    tally += stage("deadlines and random kills", || {
        suites::run_named(&suites, "host changes", &["--sweep"], &[])
    })?;
    tally += stage("hostile clients", || {
        suites::run_named(&suites, "fullclock program", &["--ignored", "hostile"], &[])
    })?;
    let fleet = || engines::ask_for_many(&suites);
    tally += stage_with(engines::PACKAGES, "20,000 machines", fleet)?.unwrap_or_default();
    tally += stage("2,000 captures of idle machines", || {
        suites::run_named(&suites, "fullclock program", &["--ignored", "2_000_idle_twins"], &[])
    })?;
    let beside = || sushy::compare(&suites);
    tally += stage_with(venv::PACKAGES, "Redfish beside sushy", beside)?.unwrap_or_default();
    stage_with(served::SWEEP_PACKAGES, "served to anybody", served::ask_everything)?;
    tally += stage("100,000 comparisons that are made up", || {
        suites::run_named(&suites, "report report", &["--ignored", "contradicts_itself"], &[])
    })?;
    let scenarios = || run_scenarios(&suites, Length::Sweep, &[]);
    tally += stage_with(packages::PACKAGES, "test bench", scenarios)?.unwrap_or_default();
    stage_with(fuzz::PACKAGES, "fuzzing", fuzz::sweep)?;
    stage("release build", build_binaries)?;
    stage("workloads against themselves", aa::sweep)?;
    print_tally(tally, started.elapsed());
    Ok(ExitCode::SUCCESS)
}
