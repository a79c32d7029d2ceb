//! Recordings beside a result: what its machines did meanwhile.
//!
//! Their names say whose they are. `ID.tape` is of the machine that the result was taken on, `ID.NODE.tape` of a node of a
//! race elsewhere, and `ID.NODE.2.tape` of that node after it began anew: a tape has one beginning.
#![expect(
    clippy::disallowed_methods,
    reason = "keeps recordings beside the results that they are of"
)]

use super::{MODE, TAPE, folder};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A node that begins anew as often is not heard of for the rest of its race.
const MOST: u32 = 1000;

/// A new file for a recording of `node`, or of this machine, beside the result of that id; where it is.
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

/// The recordings beside the result at `path`, or its journal, by name; none where the folder cannot be read.
pub fn recordings(path: &Path) -> Vec<PathBuf> {
    let (Some(place), Some(id)) = (path.parent(), path.file_stem().and_then(|it| it.to_str()))
    else {
        return Vec::new();
    };
    let beginning = format!("{id}.");
    let is_its = |it: &PathBuf| {
        it.file_name().and_then(|it| it.to_str()).is_some_and(|it| it.starts_with(&beginning))
    };
    folder::files(place, TAPE).unwrap_or_default().into_iter().filter(is_its).collect()
}

/// Removes a result, or its journal, and the recordings beside it.
pub(super) fn remove_result(path: &Path) -> io::Result<()> {
    // Where one cannot be removed, it is still found by its result.
    recordings(path).iter().try_for_each(|it| folder::remove_if_there(it))?;
    folder::remove_if_there(path)
}

/// The name of a node as part of a file's: hosts have brackets, and users have ideas.
fn harmless(node: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.:".contains(it);
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
}
