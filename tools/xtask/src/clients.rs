//! `cargo xtask clients [--long]`: pgbench and sysbench in servers of their own, with an intruder and under a quota, and a sampler of
//! the tests' own next to fullclock.
//!
//! It measures the machine, so nothing else should run. What differs from the sampler by more than its limit is printed.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::databases;
use crate::stage::print_tally;
use crate::suites;
use crate::test::{install, stage_with};

/// `cargo xtask clients`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let name = match arguments {
        [] => "proof::usual",
        [option] if option == "--long" => "proof::long",
        _ => bail!("expected cargo xtask clients [--long]"),
    };
    let started = Instant::now();
    install(&[])?;
    let suites = suites::build()?;
    let arguments = ["--ignored", "--test-threads=1", "--nocapture", name];
    let run = || suites::run_named(&suites, "fullclock program", &arguments, &[]);
    let tally = stage_with(databases::PACKAGES, "real clients", run)?.unwrap_or_default();
    print_tally(tally, started.elapsed());
    Ok(ExitCode::SUCCESS)
}
