//! Readings as lines on standard output.

use crate::cli::{Arguments, WatchArguments};
use crate::interrupt::Interrupt;
use crate::measure::command::Workload;
use crate::output;
use crate::render::samples::{Selection, Table, csv, json};
use crate::watch::{Machine, Reading, Replay, Watched};
use anyhow::{Context, Result};
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

/// Prints each interval of this machine until a signal, the number of intervals or the end of the command.
pub(super) fn live(
    arguments: &Arguments,
    options: &WatchArguments,
    selection: Selection,
    mut watched: Watched,
    mut workload: Option<Workload>,
    interrupt: &Interrupt,
) -> Result<Option<ExitStatus>> {
    let mut lines = Lines::new(arguments, options, selection, watched.machine());
    loop {
        let end = wait(&watched, workload.as_ref(), interrupt)?;
        // What has begun is over before its time; that there was nothing at all would be worse.
        if end != End::Interrupted || lines.n == 0 {
            let printed = lines.print(&watched.sample());
            if printed.is_err() {
                // Nobody reads any more; the command is still somebody's.
                workload.as_mut().map(Workload::outcome).transpose()?;
                return printed.map(|()| None);
            }
        }
        if end != End::Interval || lines.is_enough() {
            break;
        }
    }
    watched.finish()?;
    if let Some(workload) = &mut workload {
        workload.stop(interrupt)?;
    }
    workload.as_mut().map(Workload::outcome).transpose()
}

/// Prints each interval of a recording.
pub(super) fn replay(
    arguments: &Arguments,
    options: &WatchArguments,
    selection: Selection,
    mut replay: Replay,
) -> Result<ExitCode> {
    let mut lines = Lines::new(arguments, options, selection, replay.machine(String::new()));
    while !lines.is_enough()
        && let Some(reading) = replay.next()
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

/// Lines in the format that was asked for.
struct Lines<'a> {
    arguments: &'a Arguments,
    options: &'a WatchArguments,
    format: Format,
    n: u64,
}

enum Format {
    Table(Table),
    Csv(Selection),
    Json(Selection),
}

impl<'a> Lines<'a> {
    fn new(
        arguments: &'a Arguments,
        options: &'a WatchArguments,
        selection: Selection,
        machine: Machine,
    ) -> Lines<'a> {
        let format = if arguments.output.json {
            Format::Json(selection)
        } else if options.csv {
            Format::Csv(selection)
        } else {
            Format::Table(Table::new(machine, selection))
        };
        Lines { arguments, options, format, n: 0 }
    }

    fn print(&mut self, reading: &Reading) -> Result<()> {
        let text = match &mut self.format {
            Format::Json(selection) => {
                json::line(reading, |it| selection.has(it)).context("cannot write JSON")?
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

    /// Whether there are as many intervals as were asked for.
    fn is_enough(&self) -> bool {
        let most = if self.options.once { Some(1) } else { self.options.count };
        most.is_some_and(|most| self.n >= most)
    }
}

/// Says what has to be said beside the values.
fn note_all(arguments: &Arguments, notes: &[String]) {
    notes.iter().for_each(|note| output::note(&arguments.output, note));
}
