//! A study on disk: a folder with its trials, and a report once they are over.
#![expect(clippy::disallowed_methods, reason = "studies are files that the user requested")]

use crate::results_folder::{folder_of, results_folder};
use anyhow::{Context, Result, bail};
use lab::record::Record;
use lab::store::{JOURNAL, Journal, RESULT};
use std::path::{Path, PathBuf};

/// Where a study is kept.
pub(super) struct Place {
    pub(super) folder: PathBuf,
    /// There once it began.
    pub(super) journal: Option<Journal>,
}

impl Place {
    /// Ends it: the trials become a result where they are `whole`; a study of none leaves nothing behind.
    pub(super) fn close(self, record: &Record, whole: bool) -> Result<()> {
        let Place { folder, journal } = self;
        let Some(journal) = journal else { return Ok(()) };
        if super::is_void(record) {
            journal.discard()?;
            // Empty, since nothing else is in it.
            std::fs::remove_dir(&folder).ok();
        } else if whole {
            journal.finish(record)?;
        }
        Ok(())
    }
}

/// Where studies are kept, each in a folder of its own.
pub(super) fn folder(results: Option<&Path>) -> Result<PathBuf> {
    match results {
        Some(chosen) => Ok(chosen.to_owned()),
        None => Ok(results_folder(None)?.join("experiments")),
    }
}

/// The study in a folder, or in a file, and its folder.
pub fn read(path: &Path) -> Result<(Record, PathBuf)> {
    let file = if path.is_dir() {
        result_in(path).or_else(|| journal_in(path)).with_context(|| {
            format!("{} holds no study: neither a result nor trials", path.display())
        })?
    } else {
        path.to_owned()
    };
    let record = lab::store::read(&file)?;
    if record.experiment.is_none() {
        bail!("{} is a result of `fullclock bench`; `fullclock compare` shows it", file.display());
    }
    Ok((record, folder_of(&file).to_owned()))
}

/// The journal of the study in a folder.
pub(super) fn journal_in(folder: &Path) -> Option<PathBuf> {
    file_in(folder, JOURNAL)
}

fn result_in(folder: &Path) -> Option<PathBuf> {
    file_in(folder, RESULT)
}

/// The file with this ending in a folder, which may have been copied under another name; never empty, and no report.
fn file_in(folder: &Path, ending: &str) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder).ok()?.filter_map(|it| Some(it.ok()?.path()));
    let mut files: Vec<PathBuf> = files
        .filter(|it| it.extension().is_some_and(|it| it == ending))
        .filter(|it| it.file_stem().is_some_and(|it| it != "report"))
        .filter(|it| it.metadata().is_ok_and(|it| it.len() > 0))
        .collect();
    files.sort();
    files.pop()
}

/// The journals of the studies in a folder, the latest last.
pub(super) fn journals(place: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(place).into_iter().flatten();
    let mut found: Vec<PathBuf> = entries.filter_map(|it| journal_in(&it.ok()?.path())).collect();
    found.sort();
    found
}
