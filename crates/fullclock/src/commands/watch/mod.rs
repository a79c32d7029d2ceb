//! `fullclock watch`: this machine, or a recording of one, interval by interval.
//!
//! On a terminal it is a screen; elsewhere, and where a format or a number of intervals is requested, lines.

mod client;
mod feed;
mod lines;
mod screen;
mod server;

use crate::cli::{Arguments, cpu_list};
use crate::config;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use client::{ClientArguments, Listening};
use engine::interrupt::Interrupt;
use engine::measure::choice::within;
use engine::measure::command::exit_code;
use engine::sampling::{Plan, Replay, Watched};
use facts::{CpuSet, quantity};
use host::Recording;
use host::tape::{Existing, Writer};
use report::samples::Selection;
use rules::config::Config;
use rules::watch::{Probing, View};
use server::ServerArguments;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What is shown, and how.
#[derive(Args, Debug)]
pub(crate) struct WatchArguments {
    /// The time between two samples: 500ms, 1s, 2m
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = quantity::duration)]
    pub(crate) interval: Duration,
    /// Print one interval and exit
    #[arg(long, conflicts_with_all = ["count", "command"])]
    pub(crate) once: bool,
    /// Print that many intervals and exit
    #[arg(short = 'n', long, value_name = "COUNT", conflicts_with = "command", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// Print intervals for that long and exit
    #[arg(short, long, value_name = "TIME", conflicts_with_all = ["once", "count", "replay", "command"], value_parser = quantity::duration)]
    pub(crate) duration: Option<Duration>,
    /// The metrics to show, by id: busy,busy-mhz,interrupts:LOC [default: all that are known here]
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// Print CSV
    #[arg(long)]
    pub(crate) csv: bool,
    /// The CPUs to show, a list like 0-3,8 [default: all that are online]
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub(crate) cpus: Option<CpuSet>,
    /// Where no counter shows the clock, whether to probe it: auto does so on busy CPUs, for 1 ms of an interval
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) probe: Probe,
    /// Keep every sample in FILE, for --replay and `fullclock ledger --from`
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, requires = "record")]
    pub(crate) force: bool,
    /// Show a recording
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "interval", "probe", "command"])]
    pub(crate) replay: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) client: ClientArguments,
    #[command(flatten)]
    pub(crate) server: ServerArguments,
    /// A command to run and watch
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<OsString>,
}

impl WatchArguments {
    /// How many intervals to print; `None` goes on until it is ended.
    fn intervals(&self) -> Option<u64> {
        let for_duration = |it: Duration| it.as_nanos().div_ceil(self.interval.as_nanos().max(1));
        let by_time = self.duration.and_then(|it| u64::try_from(for_duration(it)).ok());
        self.once.then_some(1).or(self.count).or(by_time)
    }
}

/// When to probe the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Probe {
    Auto,
    Always,
    Never,
}

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
    let config = match is_screen {
        true => config::with_advisories(&arguments.config)?,
        false => Config::default(),
    };
    let interrupt = Interrupt::listen()?;
    // What makes no sense is known before anything is measured.
    let listening = options.client.listen(!options.command.is_empty(), is_screen)?;
    let server = options.server.view()?;
    let mut watched = begin(options, view)?;
    if let Some(server) = server {
        watched.look_at(server);
    }
    listening.iter().for_each(|it| watched.listen(it.ear.clone()));
    let live = Live { watched, listening, interrupt };
    if is_screen {
        return screen::live(arguments, options, live, config);
    }
    let status = lines::live(arguments, options, selection, live)?;
    Ok(status.map_or(ExitCode::SUCCESS, exit_code))
}

/// What shows this machine.
struct Live {
    watched: Watched,
    /// What the client prints, where that is read.
    listening: Option<Listening>,
    interrupt: Interrupt,
}

/// Whether somebody looks, and wants no lines.
fn is_screen(arguments: &Arguments, options: &WatchArguments) -> bool {
    let wants_lines = arguments.output.json || options.csv || options.intervals().is_some();
    let is_dumb = crate::output::variable("TERM").is_none_or(|it| it.is_empty() || it == "dumb");
    !wants_lines && !is_dumb && io::stdout().is_terminal()
}

/// Takes the first sample.
fn begin(options: &WatchArguments, view: View) -> Result<Watched> {
    let live = host::Live::this_machine();
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
    let existing = if options.force { Existing::Replace } else { Existing::Refuse };
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

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock watch                             the screen, a sample a second
  fullclock watch -i 5s --record friday.tape  the same, and every sample kept
  fullclock watch --replay friday.tape
  fullclock watch --once                      one interval as a table
  fullclock watch --json -n 60 > minute.json  an object a line
  fullclock watch --columns busy,busy-mhz,steal --cpus 0-7 | tee log
  fullclock watch -- pgbench -T 60            until the command ends
  fullclock watch --record a.tape --client pgbench -- pgbench -P 1 -T 60
                                              the same, with its tps
  fullclock watch --record a.tape --dsn 'host=/run/postgresql' -- ./load
                                              the same, with its phases
  fullclock watch --csv --metric 'rate=([0-9.]+)' -- stdbuf -oL ./load
  fullclock watch --client hammerdb --metric-file /tmp/hdbtcount.log
  tail -F load.log | fullclock watch --csv --client ycsb --metric-file -";
