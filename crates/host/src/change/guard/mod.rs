//! The process that reverts a change unless it is confirmed, whatever becomes of the one that made it: of its terminal, its
//! connection, its session; and whatever becomes of the journal.
//!
//! Its starter tells it over a pipe which change begins (`watch ID`), and once that awaits confirmation, to read from the journal
//! what undoing it takes (`load ID`). When the pipe is closed, by the end of the starter at the latest, the guard begins: a change
//! that was interrupted is reverted at once, one that awaits confirmation at its deadline, any other is left.
//!
//! A confirmation counts if it is in a journal that can be read and trusted. What is loaded is undone at the deadline if the
//! journal cannot be read any more, if it cannot be written, and if another process does not release the lock.
//!
//! Changes that are made and reverted by one process in turn share a guard: to start and end one with each trial of a study would
//! disturb what is measured, most of all under systemd, which makes a unit for each. Before each write this guard is given what
//! undoing takes (`hold LOG`), and reads no journal; once that is undone and recorded it forgets it (`forget ID`).

mod process;

pub use process::run;

use super::machine::Helper;
use super::undo::UndoLog;
use super::{Machine, Trouble};
use std::path::Path;

/// The first argument of the guard.
pub const COMMAND: &str = "guard-change";

/// What a guard is told, each with the id of a change or an [`UndoLog`] on a line of its own, and what it answers.
const WATCH: &str = "watch";
const WATCHES: &str = "watching";
const LOAD: &str = "load";
const LOADED: &str = "loaded";
const HOLD: &str = "hold";
const HOLDS: &str = "holding";
const FORGET: &str = "forget";
const FORGETS: &str = "forgotten";

/// A guard that is running. It begins its work when this is dropped.
#[derive(Debug)]
pub(super) struct Guard {
    process: Helper,
}

impl Guard {
    /// Starts the guard of a change that is about to begin, or of all that are going to be open; it is running when this
    /// returns.
    ///
    /// Error: it does not start, or would be ended with the session or service that this runs in.
    pub(super) fn start(
        machine: &Machine,
        folder: &Path,
        id: Option<&str>,
    ) -> Result<Guard, Trouble> {
        let folder = folder.to_string_lossy();
        let mut words = vec![COMMAND, &folder];
        words.extend(id);
        let process = Helper::start(machine, &words)?;
        match &process.note {
            None => Ok(Guard { process }),
            // Dropped, it finds no change to guard, and ends.
            Some(within_reach) => {
                let or = if id.is_some() { ", or leave out --confirm-within" } else { "" };
                let next = format!("see what `systemd-run --scope true` says{or}");
                Err(Trouble::new("the guard", format!("{within_reach}: {next}")))
            }
        }
    }

    /// Tells it which change begins.
    ///
    /// Error: it does not answer.
    pub(super) fn watch(&mut self, id: &str) -> Result<(), Trouble> {
        self.tell(WATCH, id, WATCHES)
    }

    /// Has it read what undoing a change takes, which awaits confirmation.
    ///
    /// Error: it cannot read that, or does not answer.
    pub(super) fn load(&mut self, id: &str) -> Result<(), Trouble> {
        self.tell(LOAD, id, LOADED)
    }

    /// Gives it what undoing a change takes, which it does when its starter has ended.
    ///
    /// Error: it does not answer.
    pub(super) fn hold(&mut self, log: &UndoLog) -> Result<(), Trouble> {
        let line = log.to_line().map_err(|it| Trouble::new("the guard", it.to_string()))?;
        self.tell(HOLD, &line, HOLDS)
    }

    /// Has it forget a change that is undone.
    ///
    /// Error: it does not answer.
    pub(super) fn forget(&mut self, id: &str) -> Result<(), Trouble> {
        self.tell(FORGET, id, FORGETS)
    }

    fn tell(&mut self, order: &str, what: &str, answer: &str) -> Result<(), Trouble> {
        let line = format!("{order} {what}\n");
        let refused = |why| Trouble::new("the guard", why);
        self.process.asked(line.as_bytes(), answer).map_err(refused)
    }
}
