//! `cargo xtask injection [--quick]`: known shares of a CPU are stolen while the ledger looks, and what it finds is
//! written to benches/injection.md beside what was taken.
//!
//! The machine has to be idle otherwise: the ledger accounts for whatever else runs, and that does not hold still
//! between two ledgers.

mod books;
mod table;
mod thefts;
mod truth;
mod verdict;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use crate::cargo::{binaries, build_binaries, workspace};
use books::Books;
use table::Occasion;
use thefts::{Asked, THEFTS, Theft};
use truth::Truth;
use verdict::Verdict;

/// How long a theft goes on before and after its ledger, which also takes time to start.
const MARGIN: Duration = Duration::from_secs(1);

/// Tries every theft and writes the page.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let (n_rounds, seconds) = match arguments {
        [] => (3, 4),
        [quick] if quick == "--quick" => (1, 2),
        _ => bail!("expected: cargo xtask injection [--quick]"),
    };
    build_binaries()?;
    let occasion = occasion(n_rounds, seconds)?;
    let mut results = Vec::new();
    for theft in THEFTS {
        eprintln!("{} ({})", theft.name(), theft.books.name());
        results.push((theft, try_theft(theft, &occasion).map_err(|error| format!("{error:#}"))));
    }
    let page = table::page(&occasion, &results);
    print!("{page}");
    let path = workspace().join("benches/injection.md");
    std::fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// With and without the theft in turn, so that a change of the machine hits both.
fn try_theft(theft: &Theft, occasion: &Occasion) -> Result<Verdict> {
    let (mut with, mut without, mut injected) = (Vec::new(), Vec::new(), Vec::new());
    let cost_ns = theft.calibration.map(|thief| calibrate(thief, occasion)).transpose()?.flatten();
    for _ in 0..occasion.n_rounds {
        without.push(observe(theft, theft.without, occasion)?.0);
        let (books, truth) = observe(theft, theft.thief, occasion)?;
        with.push(books);
        injected.push(truth.share(theft.taken, cost_ns)?);
    }
    let (with, without) = (Books::median(&with), Books::median(&without));
    Ok(Verdict::of(books::median(injected), (&with, &without), theft.to, theft.from))
}

/// What an interrupt costs, by a thief that is at work alone.
fn calibrate(thief: &[&str], occasion: &Occasion) -> Result<Option<f64>> {
    let length = Duration::from_secs(occasion.seconds.into());
    let thief = start_thief(thief, occasion, length)?;
    Ok(truth_of(thief)?.cost_ns())
}

/// One ledger while the thief is at work.
fn observe(theft: &Theft, thief: &[&str], occasion: &Occasion) -> Result<(Books, Truth)> {
    let length = Duration::from_secs(occasion.seconds.into()) + 3 * MARGIN;
    let mut child = start_thief(thief, occasion, length)?;
    let victim = (theft.asked_of == Asked::Victim)
        .then(|| start_thief(&["spin"], occasion, length))
        .transpose()?;
    let asked_of = match &victim {
        Some(victim) => Some(victim.id()),
        None if theft.asked_of == Asked::Spinner => Some(spinner_of(&mut child, thief)?),
        None => None,
    };
    sleep(MARGIN);
    let [fullclock, _] = binaries();
    let mut ledger = Command::new(fullclock);
    let cpu = occasion.cpu.to_string();
    ledger.args(["ledger", "--json", "--cpus", &cpu, "-d", &format!("{}s", occasion.seconds)]);
    if theft.books == thefts::Books::Spin {
        ledger.arg("--spin");
    }
    if let Some(pid) = asked_of {
        ledger.args(["--pid", &pid.to_string()]);
    }
    let ledger = ledger.stdin(Stdio::null()).output().context("cannot run the ledger")?;
    let truth = truth_of(child)?;
    victim.map(truth_of).transpose()?;
    let words = String::from_utf8_lossy(&ledger.stderr);
    ensure!(ledger.status.success(), "the ledger ended with {}: {words}", ledger.status);
    let books = Books::parse(&String::from_utf8_lossy(&ledger.stdout))?;
    Ok((books, truth))
}

fn start_thief(thief: &[&str], occasion: &Occasion, length: Duration) -> Result<Child> {
    let [_, program] = binaries();
    Command::new(program)
        .args(thief)
        .args(["--cpu", &occasion.cpu.to_string()])
        .args(["--for", &format!("{}ms", length.as_millis())])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start the thief")
}

/// What the thief took, once it is done.
fn truth_of(thief: Child) -> Result<Truth> {
    let thief = thief.wait_with_output().context("cannot wait for the thief")?;
    let words = String::from_utf8_lossy(&thief.stderr);
    ensure!(thief.status.success(), "the thief ended with {}: {words}", thief.status);
    Truth::parse(&String::from_utf8_lossy(&thief.stdout))
}

/// The process that spins: the child that the thief names, or the thief itself.
fn spinner_of(thief: &mut Child, arguments: &[&str]) -> Result<u32> {
    if arguments.first() == Some(&"spin") {
        return Ok(thief.id());
    }
    let words = thief.stderr.take().context("the thief's messages are not read")?;
    let mut line = String::new();
    BufReader::new(words).read_line(&mut line).context("cannot read the thief's messages")?;
    let number = line.trim().strip_prefix("spinner ").and_then(|it| it.parse().ok());
    number.with_context(|| format!("the thief says '{line}' instead of who spins"))
}

/// The last CPU is stolen from: the first has most of the machine's interrupts.
fn occasion(n_rounds: usize, seconds: u32) -> Result<Occasion> {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").context("cannot read /proc/cpuinfo")?;
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let load = std::fs::read_to_string("/proc/loadavg").context("cannot read /proc/loadavg")?;
    let n_cpus = std::thread::available_parallelism().context("cannot count the CPUs")?;
    let cpu = u32::try_from(n_cpus.get() - 1).context("too many CPUs")?;
    Ok(Occasion {
        date: output("date", &["--utc", "+%F"])?,
        kernel: output("uname", &["-r"])?,
        cpu_model: model.map_or("a CPU without a name", |(_, name)| name).to_owned(),
        cpu,
        n_rounds,
        load: load.split_whitespace().next().unwrap_or_default().to_owned(),
        seconds,
    })
}

fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("cannot run {program}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
