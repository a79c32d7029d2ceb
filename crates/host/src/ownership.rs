//! Who owns a file or folder, and who can write it: root obeys only what nobody else could have written.
//!
//! Access control lists show as the bits of the group (acl(5)), so they are seen, too.

use rustix::fs::{FileType, Stat};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file is not obeyed.
#[derive(Debug, Error)]
#[error("{}: {why}", path.display())]
pub struct Distrusted {
    /// The file, or the folder or link on the way to it.
    pub path: PathBuf,
    /// Why, and what to do about it.
    pub why: String,
}

impl Distrusted {
    pub(crate) fn new(path: &Path, why: impl Into<String>) -> Distrusted {
        Distrusted { path: path.to_owned(), why: why.into() }
    }
}

/// Whether this process may change a host.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Who can add names to a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    /// Root and the caller, or a group in which each user can replace only what is theirs (the sticky bit).
    Trusted,
    /// Every user, each of whom can replace only what is theirs, as in /tmp.
    Everyone,
}

/// Who can change what has this status, where it may be trusted.
///
/// Errors: it belongs to a user other than root and the caller, or others can write it.
pub(crate) fn writers(path: &Path, status: &Stat) -> Result<Writers, Distrusted> {
    owner(path, status)?;
    let kind = FileType::from_raw_mode(status.st_mode);
    // The mode of a link is 0777 and means nothing: symlink(7).
    if kind == FileType::Symlink || status.st_mode & 0o022 == 0 {
        return Ok(Writers::Trusted);
    }
    if kind == FileType::Directory && status.st_mode & 0o1000 != 0 {
        // One of a group, as /nix/store is, has hard links by design.
        let is_everyones = status.st_mode & 0o002 != 0;
        return Ok(if is_everyones { Writers::Everyone } else { Writers::Trusted });
    }
    let mode = status.st_mode & 0o7777;
    Err(Distrusted::new(path, format!("others can write it (mode {mode:o}): chmod go-w it")))
}

fn owner(path: &Path, status: &Stat) -> Result<(), Distrusted> {
    let caller = rustix::process::geteuid().as_raw();
    if status.st_uid == 0 || status.st_uid == caller {
        return Ok(());
    }
    let user = status.st_uid;
    Err(Distrusted::new(
        path,
        format!("belongs to user {user}, who could change it: chown it to root"),
    ))
}
