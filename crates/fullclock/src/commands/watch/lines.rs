//! Readings as lines on standard output.

use crate::cli::Arguments;
use crate::commands::watch::client::Listening;
use crate::commands::watch::{Live, WatchArguments};
use crate::head::{head, head_of_file};
use crate::output;
use anyhow::{Context, Result};
use engine::interrupt::Interrupt;
use engine::measure::command::{Output, Workload};
use engine::measure::hearing::Ear;
use engine::sampling::{Replay, Watched};
use report::json::Head;
use report::samples::{Selection, Table, csv, json};
use rules::watch::{Machine, Reading};
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

/// Prints each interval of this machine until a signal, the number of intervals or the end of the command.
pub(super) fn live(
    arguments: &Arguments,
    options: &WatchArguments,
    selection: Selection,
    live: Live,
) -> Result<Option<ExitStatus>> {
    let Live { mut watched, listening, interrupt } = live;
    let head = head(arguments);
    let mut lines = Lines::new(arguments, options, selection, watched.machine(), head);
    let ear = listening.as_ref().and_then(Listening::of_command);
    let started = start(options, ear);
    let mut client = Client { workload: None, listening };
    let shown = started.and_then(|started| {
        started.iter().for_each(|it| watched.follow(it.pid()));
        client.workload = started;
        lines.show(&mut watched, &mut client, &interrupt)
    });
    // Whatever has gone wrong, what was recorded is on disk.
    let finished = watched.finish();
    let ended = client.workload.map(|it| end(it, shown.is_ok(), &interrupt)).transpose();
    shown?;
    finished?;
    ended
}

/// Starts the command, if there is one. Samples are the results; what the command prints goes where talk goes.
fn start(options: &WatchArguments, ear: Option<&Ear>) -> Result<Option<Workload>> {
    let command = &options.command;
    let start = || Workload::start(command, Output::BesideResults, ear);
    (!command.is_empty()).then(start).transpose()
}

/// The command, and what listens to it or to a file.
struct Client {
    workload: Option<Workload>,
    listening: Option<Listening>,
}

impl Client {
    /// Reads what the command printed before it ended.
    fn hear_out(&mut self) {
        self.workload.iter_mut().for_each(Workload::hear_out);
        self.listening.iter_mut().for_each(Listening::finish);
    }
}

/// Ends the command. Where nobody reads what it is watched for, it is still somebody's, and ends by itself.
fn end(mut workload: Workload, is_read: bool, interrupt: &Interrupt) -> Result<ExitStatus> {
    if is_read {
        workload.stop(interrupt)?;
    }
    workload.outcome()
}

/// Prints each interval of a recording.
pub(super) fn replay(
    arguments: &Arguments,
    options: &WatchArguments,
    selection: Selection,
    mut replay: Replay,
) -> Result<ExitCode> {
    let head = match &options.replay {
        Some(path) => head_of_file(arguments, path),
        None => head(arguments),
    };
    let machine = replay.machine(String::new());
    let mut lines = Lines::new(arguments, options, selection, machine, head);
    while !lines.is_enough()
        && let Some(reading) = replay.reading()
    {
        lines.print(&reading)?;
    }
    for damage in replay.damage() {
        output::note(&arguments.output, damage);
    }
    Ok(ExitCode::SUCCESS)
}

/// What ended a wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Interval,
    Command,
    Interrupted,
}

/// Waits until a sample is due.
fn wait(watched: &Watched, workload: Option<&Workload>, interrupt: &Interrupt) -> Result<End> {
    /// How late the end of a command may be noticed.
    const LATE: Duration = Duration::from_millis(10);
    loop {
        if workload.map(Workload::has_ended).transpose()? == Some(true) {
            return Ok(End::Command);
        }
        let left = watched.left();
        if left.is_zero() {
            return Ok(End::Interval);
        }
        if interrupt.wait(if workload.is_some() { left.min(LATE) } else { left }) {
            return Ok(End::Interrupted);
        }
    }
}

/// Lines in the requested format.
struct Lines<'a> {
    arguments: &'a Arguments,
    options: &'a WatchArguments,
    format: Format,
    n: u64,
}

enum Format {
    Table(Table),
    Csv(Selection),
    Json(Selection, Head),
}

impl<'a> Lines<'a> {
    fn new(
        arguments: &'a Arguments,
        options: &'a WatchArguments,
        selection: Selection,
        machine: Machine,
        head: Head,
    ) -> Lines<'a> {
        let format = if arguments.output.json {
            Format::Json(selection, head)
        } else if options.csv {
            Format::Csv(selection)
        } else {
            let lines = output::lines();
            Format::Table(Table::new(machine, selection, lines))
        };
        Lines { arguments, options, format, n: 0 }
    }

    /// Prints interval after interval.
    fn show(
        &mut self,
        watched: &mut Watched,
        client: &mut Client,
        interrupt: &Interrupt,
    ) -> Result<()> {
        loop {
            let end = wait(watched, client.workload.as_ref(), interrupt)?;
            if end == End::Command {
                client.hear_out();
            }
            // What has begun is over before its time; that there was nothing at all would be worse.
            if end != End::Interrupted || self.n == 0 {
                self.print(&watched.sample())?;
            }
            if end != End::Interval || self.is_enough() {
                return Ok(());
            }
        }
    }

    fn print(&mut self, reading: &Reading) -> Result<()> {
        let text = match &mut self.format {
            Format::Json(selection, head) => {
                json::line(head, reading, |it| selection.has(it)).context("cannot write JSON")?
            }
            Format::Csv(selection) => {
                note_all(self.arguments, &reading.notes);
                let header = if self.n == 0 { csv::HEADER } else { "" };
                header.to_owned() + &csv::lines(reading, |it| selection.has(it))
            }
            Format::Table(table) => {
                if self.n == 0 {
                    note_all(self.arguments, &table.left_out(reading));
                }
                note_all(self.arguments, &reading.notes);
                table.lines(reading)
            }
        };
        self.n += 1;
        output::print(&text)
    }

    /// Whether there are as many intervals as requested.
    fn is_enough(&self) -> bool {
        let most = self.options.intervals();
        most.is_some_and(|most| self.n >= most)
    }
}

/// Prints the notes of a reading.
fn note_all(arguments: &Arguments, notes: &[String]) {
    notes.iter().for_each(|note| output::note(&arguments.output, note));
}
