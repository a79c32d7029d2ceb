//! `cargo xtask clients [--long]`: pgbench and sysbench in servers of their own, with an intruder and under a quota, and a sampler of
//! the tests' own next to fullclock. Without `--long` it is a stage of `cargo xtask test` and of `cargo xtask sweep`.
//!
//! It measures the machine, so nothing else should run. What differs from the sampler by more than its limit is printed.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::stage::print_tally;
use crate::suites;
use crate::test::{USUAL_CLIENTS, install, run_real_clients};

/// `cargo xtask clients`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let name = match arguments {
        [] => USUAL_CLIENTS,
        [option] if option == "--long" => "proof::long",
        _ => bail!("expected cargo xtask clients [--long]"),
    };
    let started = Instant::now();
    install(&[])?;
    let suites = suites::build()?;
    let tally = run_real_clients(&suites, name)?;
    print_tally(tally, started.elapsed());
    Ok(ExitCode::SUCCESS)
}
