//! `fullclock race`: nodes that commit at the same time, and why one of them is slower.

use crate::cli::Arguments;
use crate::output::{self, OutputArguments};
use crate::result::{Destination, Form, RowsArguments};
use crate::tell::tell;
use anyhow::{Context, Result, bail};
use clap::Args;
use engine::agent::TOKEN;
use engine::interrupt::Interrupt;
use engine::race::nodes::{Node, Place, planned};
use engine::race::{Event, Plan, Raced};
use engine::results_folder::kept_in;
use engine::{bench, secret};
use facts::quantity;
use lab::store::{Journal, recordings};
use lab::workload::Settings;
use report::bench::Report;
use report::document::Format;
use report::race as words;
use std::io::{BufRead, IsTerminal, stdin};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{self, Sender};
use std::thread::Builder;
use std::time::Duration;

/// Who races, and for how long.
#[derive(Args, Debug)]
pub(crate) struct RaceArguments {
    /// A node by its name: NAME=embedded, NAME=postgresql, NAME=mariadb or NAME=DSN on this machine, NAME=ssh:HOST or
    /// NAME=agent:HOST:PORT on another; options of this node alone follow: ,quota=25% (of a CPU) or
    /// ,quota=1.5 (CPUs) ,cgroup=FOLDER ,cpus=LIST ,sessions=COUNT ,folder=FOLDER ,engine=NAME ,dsn=DSN
    #[arg(long = "node", value_name = "NAME=WHERE[,OPTION=VALUE]...")]
    pub(crate) node: Vec<String>,
    /// Nodes by where they are, ssh:HOST or agent:HOST:PORT, each called by that
    #[arg(long, value_name = "WHERE", value_delimiter = ',')]
    pub(crate) nodes: Vec<String>,
    /// How many sessions commit at once on each node [default: 8]
    #[arg(long, value_name = "COUNT")]
    pub(crate) sessions: Option<u64>,
    /// The folder whose disk is measured, on each node: the log, or the temporary server, is made in it [default: the temporary folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<String>,
    /// For how long, in each leg
    #[arg(short, long, value_name = "TIME", default_value = "1m", value_parser = quantity::duration)]
    pub(crate) duration: Duration,
    /// The length of an interval, longer where nothing is committed in it: 100ms, 1s
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = quantity::duration)]
    pub(crate) interval: Duration,
    /// How often to start the nodes anew, in the opposite order every other time: from 4 on, the result speaks of the nodes, not of one race
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) legs: u32,
    /// The file that holds the token of agents
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The folder to keep the result in [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) results: Option<PathBuf>,
    /// Keep no result
    #[arg(long, conflicts_with = "results")]
    pub(crate) no_save: bool,
    #[command(flatten)]
    pub(crate) result: RowsArguments,
}

pub(super) fn run(arguments: &Arguments, options: &RaceArguments) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    let shared = Settings {
        sessions: options.sessions,
        folder: options.folder.clone(),
        ..Settings::default()
    };
    let nodes = planned(&options.node, &options.nodes, &shared)?;
    let token = if nodes.iter().any(|it| matches!(it.place, Place::Agent(_))) {
        secret::read(&secret::path(options.token_file.as_deref(), TOKEN)?)?
    } else {
        String::new()
    };
    let folder = kept_in(options.no_save, options.results.as_deref())?;
    bench::clear_up(&std::env::temp_dir(), folder.as_deref(), &mut tell(arguments))?;
    let (id, began) = bench::moment("race");
    let RaceArguments { duration, interval, legs, .. } = *options;
    let plan = Plan { id, began, nodes, duration, legs, interval, token, folder };
    if legs > 1 {
        output::note(&arguments.output, &words::total(legs, duration));
    }
    let interrupt = Interrupt::listen()?;
    let (typed, notes) = mpsc::channel();
    let mut shown = Shown::of(&arguments.output, &destination, &plan, typed);
    let raced = engine::race::run(&plan, &notes, &interrupt, &mut |event| shown.show(&event))?;
    if shown.table.is_some() {
        // Below the intervals stands what they say.
        output::print("\n")?;
    }
    finish(arguments, &destination, raced)
}

/// Prints what there is, and keeps it.
fn finish(arguments: &Arguments, destination: &Destination, raced: Raced) -> Result<ExitCode> {
    let Raced { record, journal, ended } = raced;
    if record.trials.is_empty() {
        journal.map_or(Ok(()), Journal::discard)?;
        ended?;
        bail!("no node completed an interval: race for longer with -d");
    }
    let kept = journal.map(|it| bench::kept(it, &record, &mut tell(arguments))).transpose();
    let file = kept.as_ref().ok().and_then(Option::as_deref);
    let mut report = Report::of(&record, file);
    report.recordings = file.map(recordings).unwrap_or_default();
    super::bench::print(arguments, &report, destination)?;
    ended?;
    kept.context("the result is printed, but not kept")?;
    Ok(ExitCode::SUCCESS)
}

/// What is shown while nodes race.
struct Shown<'a> {
    output: &'a OutputArguments,
    /// The intervals as they come, where the result is text for a terminal.
    table: Option<words::Table>,
    /// Where lines go that the user types, until the race begins.
    typed: Option<Sender<String>>,
}

impl<'a> Shown<'a> {
    fn of(
        output: &'a OutputArguments,
        destination: &Destination,
        plan: &Plan,
        typed: Sender<String>,
    ) -> Shown<'a> {
        let node = |it: &Node| words::Node {
            name: it.name.clone(),
            is_here: matches!(it.place, Place::Here(_)),
        };
        let table = match destination.form {
            Form::Document(Format::Text(style) | Format::Ascii(style)) if !output.quiet => {
                Some(words::Table::new(plan.nodes.iter().map(node).collect(), style))
            }
            _ => None,
        };
        Shown { output, table, typed: Some(typed) }
    }

    fn show(&mut self, event: &Event<'_>) -> Result<()> {
        let note = |text: &str| output::note(self.output, text);
        match event {
            Event::Ready(name, offset) => note(&words::ready(name, offset)),
            Event::Leg(number, of) => note(&format!("leg {number} of {of}")),
            Event::Begun => listen(self.output, self.typed.take()),
            Event::Interval(node, trial) => {
                if let Some(table) = &mut self.table {
                    output::print(&table.lines(*node, trial))?;
                }
            }
            Event::Note(name, text) => note(&format!("{name}: {text}")),
            Event::NotRecorded(name, why) => {
                note(&format!("{name}: its recording is not kept: {why:#}"));
            }
            Event::NotAllRecorded(why) => note(&format!("a recording lacks something: {why:#}")),
        }
        Ok(())
    }
}

/// Passes on lines that the user types, on a thread that nobody waits for, where there is a terminal.
fn listen(output: &OutputArguments, typed: Option<Sender<String>>) {
    let Some(typed) = typed.filter(|_| stdin().is_terminal()) else { return };
    let listen = move || {
        let lines = stdin().lock().lines().map_while(Result::ok);
        let written = lines.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
        written.map_while(|it| typed.send(it).ok()).for_each(drop);
    };
    // Without a thread there are no notes, and a race all the same.
    let is_listening = Builder::new().name("notes".to_owned()).spawn(listen).is_ok();
    if is_listening {
        output::note(output, "type a note and Enter to mark a moment; Ctrl-C ends the race");
    }
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock race --node a=embedded --node b=embedded,quota=25%
  fullclock race --node a=postgresql --node b=postgresql,quota=1.5
  fullclock race --node a=embedded --node b=mariadb --legs 6 -d 30s
  fullclock race --nodes ssh:db1,ssh:db2 --sessions 64 --folder /var/lib/pgsql
  fullclock race --node old=ssh:db1,dsn=postgresql:///test \\
                 --node new=ssh:db2,dsn=postgresql:///test
  fullclock race --nodes agent:127.0.0.1:7078,ssh:db2   the first by a tunnel";
