//! `cargo xtask test`: everything that has to pass before a change goes in.
//!
//! It asks for nothing but Rust and, for the test bench, Debian; stops at the first stage that
//! fails; and ends with a line that counts the tests.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use testbench::packages::{self, Package};
use testbench::times;

use crate::cargo::guest_programs;
use crate::check::check;
use crate::stage::{print_tally, seconds, stage};
use crate::suites::{self, Suite};
use crate::tally::Tally;
use crate::{ansible, browser, databases, debian, engines, guide, served, venv};

/// `cargo xtask test`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "'cargo xtask test' takes no arguments");
    let started = Instant::now();
    stage("Debian packages", || install(&[]))?;
    let (suites, mut tally) = check(run_what_waits)?;
    tally += run_real_clients(&suites, USUAL_CLIENTS)?;
    let scenarios = || run_scenarios(&suites, Length::Usual, &[]);
    tally += stage_with(packages::PACKAGES, "test bench", scenarios)?.unwrap_or_default();
    print_tally(tally, started.elapsed());
    Ok(ExitCode::SUCCESS)
}

/// The tests that wait for disks, deadlines and browsers more than they work.
pub(crate) fn run_what_waits(suites: &[Suite]) -> Result<Tally> {
    let killed = || suites::run_named(suites, "host changes", &["--ignored"], &[]);
    let mut tally = stage("changes that are killed", killed)?;
    let pages = || browser::open_pages(suites);
    tally += stage_with(browser::PACKAGES, "pages in a browser", pages)?.unwrap_or_default();
    stage_with(served::PACKAGES, "served to Prometheus", served::check_with_prometheus)?;
    let fleet = || engines::ask(suites);
    tally += stage_with(engines::PACKAGES, "fleet in real engines", fleet)?.unwrap_or_default();
    stage_with(venv::PACKAGES, "Ansible role", ansible::follow_role)?;
    stage_with(packages::PACKAGES, "command lines of the guide", guide::follow_all)?;
    Ok(tally)
}

/// The proof with real clients that each run has: a quarter of a minute for each.
pub(crate) const USUAL_CLIENTS: &str = "proof::usual";

/// Real clients in servers of their own, with the program and a sampler of the tests' own next to them: the tests named `name`. They
/// measure the machine, so nothing else should run.
pub(crate) fn run_real_clients(suites: &[Suite], name: &str) -> Result<Tally> {
    let arguments = ["--ignored", "--test-threads=1", "--nocapture", name];
    let run = || suites::run_named(suites, "fullclock program", &arguments, &[]);
    Ok(stage_with(databases::PACKAGES, "real clients", run)?.unwrap_or_default())
}

/// `cargo xtask scenarios [--sweep] [NAME ...]`: those of the test bench whose names hold one of these.
pub(crate) fn run_named_scenarios(arguments: &[String]) -> Result<ExitCode> {
    let (length, names) = match arguments {
        [option, names @ ..] if option == "--sweep" => (Length::Sweep, names),
        names => (Length::Usual, names),
    };
    if let Some(option) = names.iter().find(|it| it.starts_with('-')) {
        bail!("'{option}': expected cargo xtask scenarios [--sweep] [NAME ...]");
    }
    let started = Instant::now();
    let suites = suites::build()?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    print_tally(run_scenarios(&suites, length, &names)?, started.elapsed());
    Ok(ExitCode::SUCCESS)
}

/// Installs what tests need, and `more`.
pub(crate) fn install(more: &[Package]) -> Result<()> {
    let packages = [
        packages::PACKAGES,
        databases::PACKAGES,
        browser::PACKAGES,
        served::PACKAGES,
        engines::PACKAGES,
        venv::PACKAGES,
        more,
    ]
    .concat();
    databases::without_servers(|| debian::install(&packages))
}

/// A stage that is left out on a machine without the packages it needs.
pub(crate) fn stage_with<T>(
    packages: &[Package],
    name: &str,
    work: impl FnOnce() -> Result<T>,
) -> Result<Option<T>> {
    if packages.iter().all(Package::is_installed) {
        return stage(name, work).map(Some);
    }
    println!("\n=== {name}: left out, for packages are missing (see above)");
    Ok(None)
}

/// How much of what is tried in many places or at many moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// A few of each.
    Usual,
    /// Every point, and many moments.
    Sweep,
}

/// The module of scenarios that only a sweep runs.
const SWEEP: &str = "sweep::";

/// The tests that boot machines, with the programs that the tests were built with.
///
/// Those whose names hold one of `names`, or all where there is none.
pub(crate) fn run_scenarios(suites: &[Suite], length: Length, names: &[&str]) -> Result<Tally> {
    let [fullclock, thief] = guest_programs()?;
    let (length, left_out) = match length {
        Length::Usual => ("usual", &["--skip", SWEEP][..]),
        Length::Sweep => ("sweep", &[][..]),
    };
    let variables =
        [("FULLCLOCK_BINARY", fullclock), ("THIEF_BINARY", thief), ("BENCH_LENGTH", length.into())];
    // Up to a dozen neighbours by name wait for the same few boots; the other threads boot others meanwhile.
    let arguments = [&["--ignored", "--test-threads=16"], left_out, names].concat();
    times::forget()?;
    let tally = suites::run_named(suites, "testbench scenarios", &arguments, &variables)?;
    print_longest(&times::runs()?);
    Ok(tally)
}

/// What a shorter test would begin with.
fn print_longest(runs: &[times::Run]) {
    const SHOWN: usize = 10;
    if runs.is_empty() {
        return;
    }
    let together = runs.iter().map(|it| it.took).sum();
    println!("{} machines ran {} together, the longest of them:", runs.len(), seconds(together));
    for run in runs.iter().take(SHOWN) {
        println!("    {}  {}", seconds(run.took), run.steps);
    }
}
