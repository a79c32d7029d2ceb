//! One file per command.

mod agent;
mod audit;
mod bench;
mod capture;
pub(crate) mod certificate;
pub(crate) mod change;
pub(crate) mod compare;
mod experiment;
mod explain;
mod history;
mod ipmi;
pub(crate) mod ledger;
mod net;
mod noise;
mod race;
mod serve;
mod tick;
mod watch;

use crate::cli::{Arguments, Command};
use crate::output;
use anyhow::{Context, Result, bail};
use host::{Answered, Captured, Live, Source, WithController};
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

/// Runs what the command line asks for.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    match &arguments.command {
        None | Some(Command::Audit) => audit::run(arguments),
        Some(Command::Capture { output, force }) => {
            capture::run(arguments, output.as_deref(), *force)
        }
        Some(Command::Ledger(options)) => ledger::run(arguments, options),
        Some(Command::Watch(options)) => watch::run(arguments, options),
        Some(Command::Explain { subject }) => explain::run(arguments, subject),
        Some(Command::Net(options)) => net::run(arguments, options),
        Some(Command::Noise(options)) => noise::run(arguments, options),
        Some(Command::Tick(options)) => tick::run(arguments, options),
        Some(Command::Ipmi(options)) => ipmi::run(arguments, options),
        Some(Command::History(options)) => history::run(arguments, options),
        Some(Command::Bench(options)) => bench::run(arguments, options),
        Some(Command::Compare(options)) => compare::run(arguments, options),
        Some(Command::Race(options)) => race::run(arguments, options),
        Some(Command::Agent(options)) => agent::run(arguments, options),
        Some(Command::Serve(options)) => serve::run(arguments, options),
        Some(Command::Certificate(options)) => certificate::run(arguments, options),
        Some(Command::Plan(options)) => change::plan::run(arguments, options),
        Some(Command::Apply(options)) => change::apply::run(arguments, options),
        Some(Command::Confirm(options)) => change::confirm::run(arguments, options),
        Some(Command::Revert(options)) => change::revert::run(arguments, options),
        Some(Command::Status(options)) => change::status::run(arguments, options),
        Some(Command::WatchDrift(options)) => change::drift::run(arguments, options),
        Some(Command::Experiment(options)) => experiment::run(arguments, options),
        Some(Command::Report(options)) => experiment::report(arguments, options),
        Some(Command::OccupyCpus { cpus }) => {
            engine::experiment::occupy(cpus).map(|()| ExitCode::SUCCESS)
        }
        Some(Command::HoldLatency { microseconds }) => change::held::latency(*microseconds),
        Some(Command::GuardChange { folder, change }) => {
            change::held::guard(folder, change.as_deref())
        }
    }
}

/// The host that the options name, and what to call it. This machine's management controller is left alone.
fn open(arguments: &Arguments) -> Result<(Box<dyn Source>, String)> {
    open_as(arguments, || Box::new(Live::this_machine()))
}

/// The same, but that this machine's management controller is asked, once and for a moment: for who looks by hand.
fn open_with_controller(arguments: &Arguments) -> Result<(Box<dyn Source>, String)> {
    open_as(arguments, || Box::new(WithController::this_machine()))
}

fn open_as(
    arguments: &Arguments,
    this_machine: impl FnOnce() -> Box<dyn Source>,
) -> Result<(Box<dyn Source>, String)> {
    // clap sees this only where both stand on the same side of the command's name.
    if arguments.host.root.is_some() && arguments.host.host.is_some() {
        bail!("--root and --host name two hosts; give one of them");
    }
    if let Some(path) = &arguments.host.root {
        let name = path.display().to_string();
        let source = host::open_root(path)?;
        if !source.other_roots().is_empty() {
            let others = source.other_roots().join(", ");
            let note = format!("{name} holds other hosts too, name one to see it: {others}");
            output::note(&arguments.output, &note);
        }
        return Ok((source, name));
    }
    if let Some(path) = &arguments.host.host {
        let name = path.display().to_string();
        let captured =
            Captured::parse(&text_of(path)?).with_context(|| format!("--host {name}"))?;
        return Ok((Box::new(captured), name));
    }
    Ok((this_machine(), "this machine".to_owned()))
}

/// A copy of a host that answers nothing is none: "no findings" would be said of any tarball.
fn refuse_nothing(answered: &Answered<'_>, name: &str) -> Result<()> {
    match answered.nothing() {
        Some(what) => bail!("{name} holds no facts of a host: {what} is there"),
        None => Ok(()),
    }
}

/// A capture of 4,096 CPUs has some 100 MiB; more is a file given by mistake, or a device.
const LARGEST_CAPTURE: u64 = 1 << 30;

/// The text of a capture that the user named.
fn text_of(path: &Path) -> Result<String> {
    let name = path.display();
    let Some(bytes) = bytes_of(path, LARGEST_CAPTURE)? else {
        bail!("{name} holds 1 GiB or more, which is no capture");
    };
    String::from_utf8(bytes).with_context(|| {
        format!("{name} is no text, as captures are; a folder or tarball is read with --root")
    })
}

/// The bytes of a file that the user named; `None` where it has `largest` or more.
#[expect(clippy::disallowed_methods, reason = "a file that the user named is no fact of a host")]
pub(crate) fn bytes_of(path: &Path, largest: u64) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(largest).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {}", path.display()))?;
    let is_whole = (bytes.len() as u64) < largest;
    Ok(is_whole.then_some(bytes))
}
