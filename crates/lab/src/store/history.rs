//! The local history of results: an index of a folder of JSON files, in SQLite.
//!
//! The files are the truth. The index only saves reading all of them; whenever it is opened it is compared with the names
//! in the folder, so that one that is missing, damaged, of another version, or was locked or on a full disk while
//! a result was saved costs time and no result. Where it cannot be written, it is made in memory. The journal of a run that was
//! killed becomes a result here.

mod table;

use super::entry::Entry;
use super::{JOURNAL, Journal, RESULT, Unreadable, folder, read};
use crate::failure::Failure;
use crate::record::Record;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use table::{Table, is_damage};

/// What the index is called, in the folder of the results.
pub const INDEX: &str = "history.sqlite";

/// The results of a folder.
#[derive(Debug)]
pub struct History {
    folder: PathBuf,
    table: Table,
    unreadable: Vec<Unreadable>,
}

/// Why a history has no answer.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The folder of the results cannot be read.
    #[error("cannot read the folder of results {}: {error}", folder.display())]
    Folder {
        /// The folder of the results.
        folder: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The index, an SQLite database, cannot be used.
    #[error("cannot use the index of the history: {0}")]
    Index(#[from] rusqlite::Error),
    /// No result has such an id.
    #[error("no result's id is {0:?} or begins like that; `fullclock history` lists them")]
    Unknown(String),
    /// Several results have ids that begin like that.
    #[error("{0:?} begins the ids of {1} results: {2}")]
    Ambiguous(String, usize, String),
    /// The file that would be that result is none.
    #[error("{0}")]
    Unreadable(String),
    /// A result cannot be removed.
    #[error("cannot remove {}: {error}", path.display())]
    Remove {
        /// Its file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
}

impl History {
    /// Of the results in the folder `place`, which need not exist.
    ///
    /// Errors: the folder cannot be read.
    pub fn open(place: &Path) -> Result<History, HistoryError> {
        let results = results_in(place)?;
        // An empty folder needs no index, and one that does not exist is not made by looking.
        if !results.is_empty() {
            let index = place.join(INDEX);
            let on_disk = || History::of(place, Table::open(&index)?, &results);
            let opened = match on_disk() {
                Err(HistoryError::Index(why)) if is_damage(&why) => {
                    folder::remove_if_there(&index).ok();
                    on_disk()
                }
                opened => opened,
            };
            if opened.is_ok() {
                return opened;
            }
        }
        History::of(place, Table::in_memory()?, &results)
    }

    /// The same without an index on disk, for a user who may only read.
    ///
    /// Errors: the folder cannot be read.
    pub fn open_in_memory(place: &Path) -> Result<History, HistoryError> {
        History::of(place, Table::in_memory()?, &results_in(place)?)
    }

    /// Learns of results that came, and that went, since.
    ///
    /// Errors: the folder cannot be read.
    pub fn catch_up_with_folder(&mut self) -> Result<(), HistoryError> {
        self.unreadable.clear();
        self.catch_up(&results_in(&self.folder)?)
    }

    fn of(place: &Path, table: Table, results: &[PathBuf]) -> Result<History, HistoryError> {
        let folder = place.to_owned();
        let mut history = History { folder, table, unreadable: Vec::new() };
        history.catch_up(results)?;
        Ok(history)
    }

    /// Makes the index again from the files.
    ///
    /// Errors: the folder cannot be read, or the index cannot be removed.
    pub fn rebuild(place: &Path) -> Result<History, HistoryError> {
        let path = place.join(INDEX);
        folder::remove_if_there(&path).map_err(|error| HistoryError::Remove { path, error })?;
        History::open(place)
    }

    /// Adds a result whose file was written to its folder.
    ///
    /// Errors: the index is locked or cannot be written; the next [`History::open`] adds the result then.
    pub fn add(record: &Record, path: &Path) -> Result<(), HistoryError> {
        let table = Table::open(&path.with_file_name(INDEX))?;
        Ok(table.insert(&[Entry::of(record, path.to_owned())])?)
    }

    /// The latest results, the latest first, at most `limit`; of one workload, where one is named.
    pub fn list(&self, workload: Option<&str>, limit: usize) -> Result<Vec<Entry>, HistoryError> {
        Ok(self.table.latest(&self.folder, workload, limit)?)
    }

    /// The result of that id, or the only one whose id begins like that.
    pub fn find(&self, id: &str) -> Result<Entry, HistoryError> {
        let mut found = self.table.beginning(&self.folder, id)?;
        if let Some(exact) = found.iter().position(|it| it.id == id) {
            return Ok(found.swap_remove(exact));
        }
        match found.len() {
            0 => Err(self.none(id)),
            1 => Ok(found.swap_remove(0)),
            n => {
                const SHOWN: usize = 3;
                let ids: Vec<&str> = found.iter().take(SHOWN).map(|it| it.id.as_str()).collect();
                let more = if n > SHOWN { ", ..." } else { "" };
                let ids = format!("{}{more}", ids.join(", "));
                Err(HistoryError::Ambiguous(id.to_owned(), n, ids))
            }
        }
    }

    /// Why no result has an id that begins like that.
    fn none(&self, id: &str) -> HistoryError {
        let is_meant = |it: &&Unreadable| it.name().is_some_and(|name| name.starts_with(id));
        match self.unreadable.iter().find(is_meant) {
            Some(unreadable) => HistoryError::Unreadable(unreadable.to_string()),
            None => HistoryError::Unknown(id.to_owned()),
        }
    }

    /// Removes a result: its row, its file and its recordings.
    pub fn remove(&self, entry: &Entry) -> Result<(), HistoryError> {
        let path = entry.path.clone();
        folder::remove_result(&path).map_err(|error| HistoryError::Remove { path, error })?;
        Ok(self.table.delete(std::slice::from_ref(&entry.id))?)
    }

    /// The files that look like results by their names, and are none.
    pub fn unreadable(&self) -> &[Unreadable] {
        &self.unreadable
    }

    /// Adds the files that the index lacks, and drops what has no file.
    fn catch_up(&mut self, results: &[PathBuf]) -> Result<(), HistoryError> {
        let indexed = self.table.files()?;
        let is_there: BTreeSet<&str> =
            results.iter().filter_map(|it| it.file_name()?.to_str()).collect();
        let gone: Vec<String> = indexed
            .iter()
            .filter(|(file, _)| !is_there.contains(file.as_str()))
            .map(|(_, id)| id.clone())
            .collect();
        self.table.delete(&gone)?;
        let mut added = Vec::new();
        for path in results {
            let name = path.file_name().and_then(|it| it.to_str());
            if name.is_some_and(|it| indexed.contains_key(it)) {
                continue;
            }
            match read(path) {
                Ok(record) => added.push(Entry::of(&record, path.clone())),
                Err(why) => self.unreadable.push(why),
            }
        }
        Ok(self.table.insert(&added)?)
    }
}

/// The files of a folder that may be results.
fn results_in(place: &Path) -> Result<Vec<PathBuf>, HistoryError> {
    folder::files(place, RESULT)
        .map_err(|error| HistoryError::Folder { folder: place.to_owned(), error })
}

/// Makes results of the journals in the folder `place` whose runs are dead. Gives the results, and of the journals that
/// could not be made one why not; those stay.
pub fn sweep(place: &Path) -> Vec<Result<PathBuf, Failure>> {
    let journals = folder::files(place, JOURNAL).unwrap_or_default();
    journals.iter().filter_map(|it| finished(it).transpose()).collect()
}

/// The result of a journal; `None` where there is nothing to do, or nothing in it.
fn finished(path: &Path) -> Result<Option<PathBuf>, Failure> {
    let Some(journal) = Journal::of_dead_run(path) else { return Ok(None) };
    let result = journal.path(RESULT);
    let failed = || Failure::system(format!("cannot remove {}", path.display()));
    // The run died between writing the result and removing the journal.
    if result.exists() {
        return folder::remove_if_there(path).map(|()| None).map_err(failed());
    }
    let record = read(path).map_err(|why| Failure::Unready(why.to_string()))?;
    if record.trials.is_empty() {
        return folder::remove_result(path).map(|()| None).map_err(failed());
    }
    journal.finish(&record).map(Some)
}

#[cfg(test)]
mod tests;
