//! `fullclock watch`: this machine, or a recording of one, interval by interval.
//!
//! On a terminal it is a screen; elsewhere, and where a format or a number of intervals is asked for, lines.

mod feed;
mod lines;
pub(super) mod options;
mod screen;

use crate::cli::Arguments;
use crate::commands::watch::options::{Probe, WatchArguments};
use anyhow::{Result, bail};
use engine::interrupt::Interrupt;
use engine::measure::choice::within;
use engine::measure::command::exit_code;
use engine::sampling::{Plan, Replay, Watched};
use host::tape::{Existing, Writer};
use host::{Live, Recording};
use report::samples::Selection;
use rules::watch::{Probing, View};
use std::io::{self, IsTerminal};
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, options: &WatchArguments) -> Result<ExitCode> {
    if options.csv && arguments.output.json {
        bail!("--csv and --json are two formats; give one of them");
    }
    let selection = Selection::parse(&options.columns)?;
    let is_screen = is_screen(arguments, options);
    let own = std::process::id();
    let view = if is_screen {
        View::everything(own)
    } else {
        selection.view(arguments.output.json.then_some(own))
    };
    if let Some(path) = &options.replay {
        let replay = Replay::open(path, options.cpus.clone(), view)?;
        return if is_screen {
            screen::replay(arguments, path, replay)
        } else {
            lines::replay(arguments, options, selection, replay)
        };
    }
    let interrupt = Interrupt::listen()?;
    let watched = begin(options, view)?;
    if is_screen {
        return screen::live(arguments, options, watched, interrupt);
    }
    let status = lines::live(arguments, options, selection, watched, &interrupt)?;
    Ok(status.map_or(ExitCode::SUCCESS, exit_code))
}

/// Whether somebody looks, and wants no lines.
fn is_screen(arguments: &Arguments, options: &WatchArguments) -> bool {
    let wants_lines =
        arguments.output.json || options.csv || options.once || options.count.is_some();
    let is_dumb = crate::output::variable("TERM").is_none_or(|it| it.is_empty() || it == "dumb");
    !wants_lines && !is_dumb && io::stdout().is_terminal()
}

/// Takes the first sample.
fn begin(options: &WatchArguments, view: View) -> Result<Watched> {
    let live = Live::this_machine();
    let recording = Recording::new(&live);
    let host = host::view(&recording);
    if let Some(cpus) = &options.cpus {
        let online = host.topology.online.as_ref().map_err(Clone::clone)?;
        within(Some(cpus), online)?;
    }
    if options.record.is_some() {
        engine::advised::ask(&recording, &host);
    }
    // The file is made before anything is measured: one that cannot be is to be known at once.
    let existing = if options.overwrite { Existing::Replace } else { Existing::Refuse };
    let create = |path| Writer::create(path, existing, &recording);
    let tape = options.record.as_deref().map(create).transpose()?;
    let probing = match options.probe {
        Probe::Auto => Probing::Busy,
        Probe::Always => Probing::All,
        Probe::Never => Probing::Off,
    };
    let (interval, cpus) = (options.interval, options.cpus.clone());
    Ok(Watched::begin(live, host, Plan { interval, cpus, view, probing }, tape)?)
}
