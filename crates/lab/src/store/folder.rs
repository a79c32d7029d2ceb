//! The folder of the results.
#![expect(
    clippy::disallowed_methods,
    reason = "lists and removes results where the user keeps them"
)]

use std::io;
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
        // A name that is not text is none of ours.
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

/// Removes a file that somebody else may have removed already.
pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
