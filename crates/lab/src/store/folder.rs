//! The folder of results: its files, and the recordings with each result.
//!
//! The name of a recording says whose it is: `ID.tape` is of the machine that the result was taken on, `ID.NODE.tape` of another
//! node of a race, and `ID.NODE.2.tape` of that node after its agent was restarted: a tape has one beginning.
#![expect(
    clippy::disallowed_methods,
    reason = "lists, makes and removes files where the user keeps results"
)]

use super::{MODE, TAPE};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
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

/// Writes a value as JSON and a line feed in place of what is at `path`, by way of a file `new` beside it: the whole, on disk, or nothing.
pub(crate) fn replace(path: &Path, new: &Path, value: &impl Serialize) -> io::Result<()> {
    let write = || -> io::Result<()> {
        // What a dead run left; and nothing that has this name is written through, such as a link.
        remove_if_there(new)?;
        let file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(new)?;
        let mut out = io::BufWriter::new(&file);
        serde_json::to_writer(&mut out, value)?;
        out.write_all(b"\n")?;
        // What is dropped unflushed loses its end without an error.
        out.flush()?;
        file.sync_all()?;
        std::fs::rename(new, path)?;
        // The rename is on disk when the folder is.
        File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
    };
    write().inspect_err(|_| {
        // Half a file would only take room of a disk that may be full.
        std::fs::remove_file(new).ok();
    })
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

/// The name of a node as part of a file's: addresses have brackets and colons, which scp takes for the end of a host, and users have
/// ideas.
fn harmless(node: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    node.chars().map(|it| if is_plain(it) { it } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
                "race-7.___1__7078.tape",
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
}
