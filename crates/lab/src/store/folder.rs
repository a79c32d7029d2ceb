//! The folder of results: its files, the recordings with each result, and the journals that killed runs left.
//!
//! The name of a recording says whose it is: `ID.tape` is of the machine that the result was taken on, `ID.NODE.tape` of another
//! node of a race, and `ID.NODE.2.tape` of that node after its agent was restarted: a tape has one beginning.
#![expect(
    clippy::disallowed_methods,
    reason = "lists, makes and removes files where the user keeps results"
)]

use super::{JOURNAL, Journal, MODE, RESULT, TAPE, read};
use crate::failure::Failure;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The regular files whose names end in `.extension`, by name; none where there is no such folder.
pub(super) fn files(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        // A file that fullclock made has a name in UTF-8.
        let is_text = path.file_name().is_some_and(|it| it.to_str().is_some());
        // Reading a pipe would never end.
        let is_file = || std::fs::metadata(&path).is_ok_and(|it| it.is_file());
        if is_text && path.extension().is_some_and(|it| it == extension) && is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Removes a file that another process may have removed already.
pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The most recordings of a node in one race: an agent that restarts more often is ignored.
const MOST: u32 = 1000;

/// Makes a file for a recording of `node`, or of this machine, in the folder of the result with that id; returns its path.
pub(super) fn create(place: &Path, id: &str, node: Option<&str>) -> io::Result<(File, PathBuf)> {
    let stem = node.map_or_else(|| id.to_owned(), |it| format!("{id}.{}", harmless(it)));
    for n in 1..=MOST {
        let stem = if n == 1 { stem.clone() } else { format!("{stem}.{n}") };
        let path = place.join(format!("{stem}.{TAPE}"));
        match OpenOptions::new().write(true).create_new(true).mode(MODE).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (file, path)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The recordings of the result at `path`, or of its journal, by name; none where the folder cannot be read.
pub fn recordings(path: &Path) -> Vec<PathBuf> {
    let (Some(place), Some(id)) = (path.parent(), path.file_stem().and_then(|it| it.to_str()))
    else {
        return Vec::new();
    };
    let beginning = format!("{id}.");
    let is_its = |it: &PathBuf| {
        it.file_name().and_then(|it| it.to_str()).is_some_and(|it| it.starts_with(&beginning))
    };
    files(place, TAPE).unwrap_or_default().into_iter().filter(is_its).collect()
}

/// Removes a result, or its journal, and its recordings.
pub(super) fn remove_result(path: &Path) -> io::Result<()> {
    // Where one cannot be removed, it is still found by its result.
    recordings(path).iter().try_for_each(|it| remove_if_there(it))?;
    remove_if_there(path)
}

/// The name of a node as part of a file's: hosts have brackets, and users have ideas.
fn harmless(node: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.:".contains(it);
    node.chars().map(|it| if is_plain(it) { it } else { '_' }).collect()
}

/// Makes results of the journals in the folder `place` whose runs are dead. Gives the results, and of the journals that
/// could not be made one why not; those stay.
pub fn sweep(place: &Path) -> Vec<Result<PathBuf, Failure>> {
    let journals = files(place, JOURNAL).unwrap_or_default();
    journals.iter().filter_map(|it| finished(it).transpose()).collect()
}

/// The result of a journal; `None` where there is nothing to do, or nothing in it.
fn finished(path: &Path) -> Result<Option<PathBuf>, Failure> {
    let Some(journal) = Journal::of_dead_run(path) else { return Ok(None) };
    let result = journal.path(RESULT);
    let failed = || Failure::system(format!("cannot remove {}", path.display()));
    // The run died between writing the result and removing the journal.
    if result.exists() {
        return remove_if_there(path).map(|()| None).map_err(failed());
    }
    let record = read(path).map_err(|why| Failure::Unready(why.to_string()))?;
    if record.trials.is_empty() {
        return remove_result(path).map(|()| None).map_err(failed());
    }
    journal.finish(&record).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubt::Doubt;
    use crate::store::fixture::{record, trial};

    fn names(paths: &[PathBuf]) -> Vec<&str> {
        paths.iter().filter_map(|it| it.file_name()?.to_str()).collect()
    }

    #[test]
    fn each_recording_has_a_file_of_its_own_beside_its_result() {
        let folder = tempfile::tempdir().unwrap();
        let create = |id: &str, node: Option<&str>| create(folder.path(), id, node).unwrap();
        for node in [None, Some("db1"), Some("db1"), Some("[::1]:7078"), Some("../x")] {
            create("race-7", node);
        }
        create("race-7-2", None);
        create("race-77", Some("db1"));
        let found = recordings(&folder.path().join("race-7.json"));
        assert_eq!(
            names(&found),
            [
                "race-7..._x.tape",
                "race-7._::1_:7078.tape",
                "race-7.db1.2.tape",
                "race-7.db1.tape",
                "race-7.tape"
            ]
        );
        assert_eq!(names(&recordings(&folder.path().join("race-7-2.trials"))), ["race-7-2.tape"]);
    }

    #[test]
    fn where_there_is_no_folder_there_are_no_recordings() {
        assert!(recordings(Path::new("/nonexistent/race-7.json")).is_empty());
    }

    fn names_in(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_journal_of_a_living_run_is_left_alone_and_that_of_a_dead_one_is_a_result_cut_short() {
        let folder = tempfile::tempdir().unwrap();
        let mut written = record(0);
        let mut journal = Journal::begin(folder.path(), &mut written).unwrap();
        written.trials.push(trial(1));
        journal.add(&written).unwrap();
        assert!(sweep(folder.path()).is_empty());
        drop(journal);
        let swept = sweep(folder.path());
        let result = read(swept[0].as_ref().unwrap()).unwrap();
        assert_eq!(result.trials, written.trials);
        assert!(
            !result.is_complete && result.doubts.contains(&Doubt::CutShort.into()),
            "{result:?}"
        );
        assert_eq!(names_in(folder.path()), ["x.json"]);
        assert!(sweep(folder.path()).is_empty());
    }

    #[test]
    fn a_run_that_died_before_its_first_trial_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(Journal::begin(folder.path(), &mut record(0)).unwrap());
        assert!(sweep(folder.path()).is_empty());
        assert_eq!(names_in(folder.path()), [""; 0]);
    }

    #[test]
    fn a_complete_result_outlives_the_journal_that_was_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut whole = record(2);
        whole.is_complete = true;
        let text = serde_json::to_string(&whole).unwrap();
        std::fs::write(folder.path().join("x.json"), &text).unwrap();
        std::fs::write(folder.path().join("x.trials"), &text).unwrap();
        assert!(sweep(folder.path()).is_empty());
        assert_eq!(names_in(folder.path()), ["x.json"]);
        assert_eq!(read(&folder.path().join("x.json")).unwrap(), whole);
    }

    #[test]
    fn what_is_no_journal_stays_where_it_is_and_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("notes.trials"), "elapsed 12.4 s\n").unwrap();
        std::fs::write(folder.path().join("empty.trials"), "").unwrap();
        let swept = sweep(folder.path());
        assert_eq!(swept.len(), 1);
        assert!(swept[0].as_ref().unwrap_err().to_string().contains("notes.trials"));
        assert_eq!(names_in(folder.path()), ["empty.trials", "notes.trials"]);
    }
}
