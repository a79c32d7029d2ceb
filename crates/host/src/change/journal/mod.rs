//! The durable record of changes: a file that is appended to only, an entry a line ([`entry`]).
//!
//! A crash cuts at most what follows the last write that was seen on disk: a last line without its end, or with zeros where a
//! file system had not written yet. That is dropped, and said. A line that is damaged otherwise is an error, never skipped.

mod entry;
mod folder;
mod history;
mod lock;
mod packed;
mod parse;
mod recorded;
mod scroll;

pub(super) use entry::{Fates, Step, runs};
pub(super) use packed::Packed;
pub use recorded::{Recorded, RecordedGroup, State};

use super::guard::Guard;
use super::machine::{Process, is_running};
use super::{ChangeError, Fate, Intent, JournalError, Machine, Transaction, Trouble};
use entry::VERSION;
use folder::{Folder, io};
use history::History;
use lock::Lock;
use rustix::fd::OwnedFd;
use rustix::fs::OFlags;
use scroll::Scroll;
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
    scroll: Option<Scroll>,
    /// Of all changes that are guarded until they are over.
    guard: Option<Guard>,
    /// Held as long as this is there.
    _lock: Option<Lock>,
}

/// What a journal holds of one change, word for word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeLines {
    /// The journal's file.
    pub path: PathBuf,
    /// The lines with their ends.
    pub text: Vec<u8>,
    /// How many they are.
    pub n_lines: usize,
    /// How many lines the whole journal had: what is appended to it later is behind them.
    pub n_before: usize,
    /// What stands in each of them, and in no other line.
    pub pattern: String,
}

/// What a journal is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Looking. Takes no lock; a change that is being made meanwhile shows as far as it is.
    Read,
    /// Changing the host, if nobody else is.
    Write,
    /// Changing the host, as soon as nobody else is.
    WriteWhenFree,
}

impl Journal {
    /// Opens the journal of a state folder, and creates both for writing where they are absent. Reading what is absent is an
    /// empty journal.
    ///
    /// Errors: another process is changing the host; others than root and the caller could have written it; it is damaged, or
    /// of a later version.
    pub fn open(folder: &Path, access: Access) -> Result<Journal, JournalError> {
        let is_written = access != Access::Read;
        let Some(folder) = folder::open(folder, is_written)? else {
            return Ok(Journal::empty(folder));
        };
        let lock = match access {
            Access::Read => None,
            Access::Write => Some(lock::lock(&folder, false)?),
            Access::WriteWhenFree => Some(lock::lock(&folder, true)?),
        };
        let Some(file) = open_file(&folder, is_written)? else {
            return Ok(Journal::empty(&folder.path));
        };
        let path = folder.path.join(NAME);
        let text = scroll::read_all(&file).map_err(|error| io(&path, "read", error))?;
        let length = text.len();
        let mut journal = Journal::parse(&folder.path, text)?;
        if !is_written {
            // Nobody who holds no lock can tell a line that was cut from one that is being written.
            journal.notes.clear();
        }
        journal.scroll = is_written.then(|| Scroll::new(file, path, length));
        journal._lock = lock;
        Ok(journal)
    }

    fn empty(folder: &Path) -> Journal {
        Journal {
            folder: folder.to_owned(),
            path: folder.join(NAME),
            text: Vec::new(),
            sequence: 0,
            history: History::default(),
            notes: Vec::new(),
            scroll: None,
            guard: None,
            _lock: None,
        }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Every change, the oldest first.
    pub fn changes(&self) -> &[Recorded] {
        &self.history.changes
    }

    /// One change.
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
            let group = self.body::<Packed>(body)?.unpack();
            let runs = fates.remove(number).unwrap_or_default().into_iter();
            // A run is no longer than its group, whatever it says.
            let known = runs.flat_map(|(n, fate)| std::iter::repeat_n(fate, n as usize));
            let fates =
                known.chain(std::iter::repeat(Fate::Intended)).take(group.writes.len()).collect();
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

    /// Whether a process keeps a request of a latency for a change.
    pub fn holds_latency(&self, id: &str) -> bool {
        self.holders(id).iter().any(|&(pid, started)| is_running(Process { pid, started }))
    }

    /// The processes that keep requests for a change: id and start.
    pub(super) fn holders(&self, id: &str) -> &[(u32, u64)] {
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
        self.scroll.as_ref().map_or(0, Scroll::n_syncs)
    }

    /// Begins a change. Nothing is written to the host; the guard, where [`Intent::guarded`] asks for one, is running when this
    /// returns.
    ///
    /// Errors: the guard cannot be started; an earlier change was interrupted, and [`super::recover`] has not undone it.
    pub fn begin<'a>(
        &'a mut self,
        machine: &'a Machine,
        intent: Intent,
    ) -> Result<Transaction<'a>, ChangeError> {
        Transaction::begin(machine, self, intent)
    }

    /// Starts the guard of whatever is open, where none is running.
    ///
    /// Error: it does not start.
    pub(super) fn stay_guarded(&mut self, machine: &Machine) -> Result<(), Trouble> {
        let is_guarded = self.guard.as_mut().is_some_and(Guard::answers);
        if !is_guarded {
            self.guard = Some(Guard::start(machine, &self.folder, None)?);
        }
        Ok(())
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
        let scroll = self.scroll.as_mut().ok_or_else(|| JournalError::Io {
            path: self.path.clone(),
            doing: "written",
            why: "it was opened for reading".to_owned(),
        })?;
        scroll.append(self.text.len(), lines.as_bytes(), is_durable)?;
        self.text.extend_from_slice(lines.as_bytes());
        self.sequence = sequence;
        let damaged = |why| JournalError::Damaged { path: self.path.clone(), line: 0, why };
        self.history.add(step, end - body.len()..end).map_err(damaged)
    }
}

fn open_file(folder: &Folder, is_written: bool) -> Result<Option<OwnedFd>, JournalError> {
    if !is_written {
        return match rustix::fs::statat(&folder.file, NAME, rustix::fs::AtFlags::SYMLINK_NOFOLLOW) {
            Err(rustix::io::Errno::NOENT) => Ok(None),
            _ => folder.open_file(NAME, OFlags::RDONLY).map(Some),
        };
    }
    let file = folder.open_file(NAME, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE)?;
    // Its name has to be on disk, too; it may have been created by a process that was killed before this.
    rustix::fs::fsync(&folder.file).map_err(|error| io(&folder.path, "written to disk", error))?;
    Ok(Some(file))
}

#[cfg(test)]
mod tests;
