//! What dead runs left: each of their journals becomes a result that was cut short.

use super::{JOURNAL, Journal, RESULT, folder, read, recordings};
use crate::failure::Failure;
use std::path::{Path, PathBuf};

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
        return recordings::remove_result(path).map(|()| None).map_err(failed());
    }
    journal.finish(&record).map(Some)
}

#[cfg(test)]
mod tests;
