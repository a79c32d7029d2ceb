//! What a folder holds, and the way from there into the folders in it.
//!
//! To open each of a thousand folders only to ask for one file costs more than to read the file.

use rustix::fd::OwnedFd;
use rustix::fs::{Dir, FileType};
use rustix::io::Errno;

/// A folder that was listed.
#[derive(Debug)]
pub(super) struct Listed {
    path: String,
    pub(super) folder: OwnedFd,
    /// What is a folder in it, and no link to one; sorted.
    folders: Vec<String>,
}

impl Listed {
    /// The folder at `path`, which is open, and what is in it.
    pub(super) fn new(path: &str, folder: OwnedFd, found: &[(String, FileType)]) -> Listed {
        let folders = found.iter().filter(|(_, kind)| *kind == FileType::Directory);
        let folders = folders.map(|(name, _)| name.clone()).collect();
        Listed { path: path.trim_end_matches('/').to_owned(), folder, folders }
    }

    /// The way from here to `name` in the folder at `path`, where that is one of the folders in this one.
    pub(super) fn way(&self, path: &str, name: &str) -> Option<String> {
        let folder = path.strip_prefix(self.path.as_str())?.strip_prefix('/')?;
        self.folders.binary_search_by(|it| it.as_str().cmp(folder)).ok()?;
        Some(format!("{folder}/{name}"))
    }
}

/// The names in an open folder, sorted, each with what it is as far as the file system tells. Of a folder with more than
/// `most` names it has one more than that.
pub(super) fn entries(folder: &mut Dir, most: usize) -> Result<Vec<(String, FileType)>, Errno> {
    let mut found = Vec::new();
    for entry in folder {
        if found.len() > most {
            break;
        }
        let entry = entry?;
        let name = entry.file_name().to_string_lossy();
        if name != "." && name != ".." {
            found.push((name.into_owned(), entry.file_type()));
        }
    }
    found.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found)
}
