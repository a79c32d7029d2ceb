//! The durable record of changes: a file that is appended to only, an entry a line ([`entry`]).
//!
//! A crash cuts at most what follows the last write that was seen on disk: a last line without its end, or with zeros where a
//! file system had not written yet. That is dropped, and said. A line that is damaged otherwise is an error, never skipped.

mod compact;
mod entry;
mod folder;
mod history;
mod lock;
mod log_file;
mod open;

pub(super) use compact::Compact;
pub(super) use entry::{Fates, Step, runs, unrolled};
pub(super) use folder::Folder;
pub(super) use lock::{Lock, mark_guard, override_holder, while_unlocked};
pub use open::Access;

use super::JournalError;
use super::process::Process;
use entry::VERSION;
use facts::change::{ChangeLines, Recorded, RecordedGroup};
use history::History;
use log_file::LogFile;
use serde::de::DeserializeOwned;
use std::ops::Range;
use std::path::{Path, PathBuf};

const NAME: &str = "journal";

/// The record of every change in a state folder: appended to only, a JSON object a line with a checksum.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    path: PathBuf,
    text: Vec<u8>,
    sequence: u64,
    history: History,
    notes: Vec<String>,
    /// `None` where it is only read.
    log_file: Option<LogFile>,
    lock: Option<Lock>,
    /// Held by a study, which holds the lock during its changes only.
    reservation: Option<Lock>,
    /// `None` where there is none.
    opened: Option<Folder>,
}

impl Journal {
    fn empty(folder: &Path) -> Journal {
        Journal {
            folder: folder.to_owned(),
            path: folder.join(NAME),
            text: Vec::new(),
            sequence: 0,
            history: History::default(),
            notes: Vec::new(),
            log_file: None,
            lock: None,
            reservation: None,
            opened: None,
        }
    }

    /// The state folder that the journal is in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Every change, the oldest first.
    pub fn changes(&self) -> &[Recorded] {
        &self.history.changes
    }

    /// The change with this number; `12` finds `0012`.
    pub fn change(&self, id: &str) -> Result<&Recorded, JournalError> {
        let place = self.history.place(id).and_then(|it| self.history.changes.get(it));
        place.ok_or_else(|| JournalError::NoSuchChange { id: id.to_owned() })
    }

    /// The groups of one change.
    pub fn groups(&self, id: &str) -> Result<Vec<RecordedGroup>, JournalError> {
        let absent = || JournalError::NoSuchChange { id: id.to_owned() };
        let parts = self.history.parts(id).ok_or_else(absent)?;
        let mut fates = Fates::new();
        for body in &parts.fates {
            fates.extend(self.body::<Fates>(body)?);
        }
        let recorded = parts.groups.iter().map(|(number, body)| {
            let group = self.body::<Compact>(body)?.unpack();
            let fates = unrolled(fates.remove(number).unwrap_or_default(), group.writes.len());
            Ok(RecordedGroup { group, fates })
        });
        recorded.collect()
    }

    /// The lines of one change, as they are in the file; `grep -F` of [`ChangeLines::pattern`] finds the same ones.
    ///
    /// No other line can hold the pattern: what people write stands in JSON with its quotes escaped.
    pub fn lines(&self, id: &str) -> Result<ChangeLines, JournalError> {
        let pattern = format!("\"change\":\"{}\"", self.change(id)?.id);
        let holds = |line: &&[u8]| line.windows(pattern.len()).any(|it| it == pattern.as_bytes());
        let lines = || self.text.split_inclusive(|it| *it == b'\n');
        let n_of_change = lines().filter(holds).count();
        Ok(ChangeLines {
            path: self.path.clone(),
            text: lines().filter(holds).collect::<Vec<_>>().concat(),
            n_lines: n_of_change,
            n_before: lines().count(),
            pattern,
        })
    }

    /// The processes that were told to keep requests for a change.
    pub(super) fn holders(&self, id: &str) -> &[Process] {
        self.history.parts(id).map_or(&[], |it| &it.holders)
    }

    fn body<T: DeserializeOwned>(&self, at: &Range<usize>) -> Result<T, JournalError> {
        let text = self.text.get(at.clone()).unwrap_or_default();
        serde_json::from_slice(text).map_err(|error| {
            let before = self.text.get(..at.start).unwrap_or_default();
            let line = before.iter().filter(|it| **it == b'\n').count() + 1;
            JournalError::Damaged { path: self.path.clone(), line, why: error.to_string() }
        })
    }

    /// What was met on opening that users should know: a last line that a crash cut.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How often it was written through to the disk since it was opened.
    pub fn n_syncs(&self) -> u64 {
        self.log_file.as_ref().map_or(0, LogFile::n_syncs)
    }

    /// Whether the guard of a change that awaits confirmation runs.
    ///
    /// Errors: the lock of its guard cannot be read.
    pub fn is_guarded(&self, id: &str) -> Result<bool, JournalError> {
        self.opened.as_ref().map_or(Ok(false), |it| lock::is_guarded(it, id))
    }

    pub(super) fn next_id(&self) -> String {
        self.history.next_id()
    }

    /// Appends an entry; `is_durable` once this returns, or else with the next that is. An error leaves no part of it.
    pub(super) fn append(
        &mut self,
        step: Step,
        body: &impl serde::Serialize,
        is_durable: bool,
    ) -> Result<(), JournalError> {
        let unprintable = |path: &Path, error: serde_json::Error| JournalError::Io {
            path: path.to_owned(),
            doing: "written",
            why: error.to_string(),
        };
        match &self.lock {
            Some(lock) => lock.is_current()?,
            None if self.log_file.is_some() => return Err(self.not_locked()),
            // It says below why it cannot be written.
            None => {}
        }
        let line = |sequence, step: &Step, body: &str| {
            entry::line(sequence, step, body).map_err(|error| unprintable(&self.path, error))
        };
        let mut lines = String::new();
        let mut sequence = self.sequence;
        if self.text.is_empty() {
            sequence += 1;
            lines = line(sequence, &Step::Journal { version: VERSION }, "null")?;
        }
        let at = self.text.len() + lines.len();
        sequence += 1;
        let body = serde_json::to_string(body).map_err(|error| unprintable(&self.path, error))?;
        lines += &line(sequence, &step, &body)?;
        let end = self.text.len() + lines.len() - "}\n".len();
        debug_assert!(at < end);
        let log_file = self.log_file.as_mut().ok_or_else(|| JournalError::Io {
            path: self.path.clone(),
            doing: "written",
            why: match self.opened.as_ref().is_some_and(Folder::is_read_only) {
                true => "its file system is read-only".to_owned(),
                false => "it is open for reading only".to_owned(),
            },
        })?;
        log_file.append(self.text.len(), lines.as_bytes(), is_durable)?;
        self.text.extend_from_slice(lines.as_bytes());
        self.sequence = sequence;
        if let (Step::Kept { change } | Step::Reverted { change, .. }, Some(folder)) =
            (&step, &self.opened)
        {
            // A guard that was killed has left it.
            folder.tidy(&lock::guard_name(change));
        }
        let damaged = |why| JournalError::Damaged { path: self.path.clone(), line: 0, why };
        self.history.add(step, end - body.len()..end).map_err(damaged)
    }
}

#[cfg(test)]
mod tests;
