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

/// Who asks: the user and group that files are opened as.
#[derive(Clone, Copy, Debug)]
struct Caller {
    user: u32,
    group: u32,
}

/// Who can change what has this status, where it may be trusted.
///
/// Errors: it belongs to a user other than root and the caller, or others can write it.
pub(crate) fn writers(path: &Path, status: &Stat) -> Result<Writers, Distrusted> {
    let user = rustix::process::geteuid().as_raw();
    writers_for(Caller { user, group: rustix::process::getegid().as_raw() }, path, status)
}

fn writers_for(caller: Caller, path: &Path, status: &Stat) -> Result<Writers, Distrusted> {
    let kind = FileType::from_raw_mode(status.st_mode);
    let user = status.st_uid;
    if user != 0 && user != caller.user {
        let advice = caller.advice_on_owner(kind);
        let why = format!("belongs to user {user}, who could change it: {advice}");
        return Err(Distrusted::new(path, why));
    }
    // The mode of a link is 0777 and means nothing: symlink(7).
    if kind == FileType::Symlink || status.st_mode & caller.others(status) == 0 {
        return Ok(Writers::Trusted);
    }
    if kind == FileType::Directory && status.st_mode & 0o1000 != 0 {
        // One of a group, as /nix/store is, has hard links by design.
        let is_everyones = status.st_mode & 0o002 != 0;
        return Ok(if is_everyones { Writers::Everyone } else { Writers::Trusted });
    }
    let mode = status.st_mode & 0o7777;
    let advice = if kind == FileType::Directory { caller.better_folder() } else { "chmod go-w it" };
    Err(Distrusted::new(path, format!("others can write it (mode {mode:o}): {advice}")))
}

impl Caller {
    /// The bits of a mode that let others write. With user private groups the umask is 002 (pam_umask(8), usergroups), so that
    /// a user's own group can write what is theirs; a list with more names on it is then that user's own choice. Root obeys
    /// no group.
    fn others(self, status: &Stat) -> u32 {
        if self.user != 0 && status.st_gid == self.group { 0o002 } else { 0o022 }
    }

    fn advice_on_owner(self, kind: FileType) -> &'static str {
        match (kind, self.user) {
            (FileType::Directory, _) => self.better_folder(),
            // chown(1) without -h changes what the link leads to.
            (FileType::Symlink, 0) => "chown -h it to root",
            (FileType::Symlink, _) => "chown -h it to yourself",
            (_, 0) => "chown it to root",
            _ => "chown it to yourself",
        }
    }

    /// Somebody's home and a shared folder are as they should be: the file is in the wrong place.
    fn better_folder(self) -> &'static str {
        match self.user {
            0 => "move the file to a folder that only root can write, such as /root",
            _ => "move the file to a folder that only you can write",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: Caller = Caller { user: 0, group: 0 };
    const ALICE: Caller = Caller { user: 1000, group: 1000 };

    /// The verdict on something of this kind and mode that belongs to a user and group.
    fn judged(caller: Caller, kind: FileType, mode: u32, owner: [u32; 2]) -> String {
        let mut status = rustix::fs::stat("/").unwrap();
        status.st_mode = kind.as_raw_mode() | mode;
        [status.st_uid, status.st_gid] = owner;
        match writers_for(caller, Path::new("/x"), &status) {
            Ok(writers) => format!("{writers:?}"),
            Err(refused) => refused.why,
        }
    }

    #[test]
    fn advice_changes_a_file_and_never_a_folder() {
        let [file, folder, link] = [FileType::RegularFile, FileType::Directory, FileType::Symlink];
        let belongs = "belongs to user 7, who could change it: ";
        let shared = "others can write it (mode 777): ";
        for (caller, kind, mode, user, expected) in [
            (ROOT, file, 0o644, 7, [belongs, "chown it to root"]),
            (ROOT, link, 0o777, 7, [belongs, "chown -h it to root"]),
            (
                ROOT,
                folder,
                0o755,
                7,
                [belongs, "move the file to a folder that only root can write, such as /root"],
            ),
            (ALICE, file, 0o644, 7, [belongs, "chown it to yourself"]),
            (
                ALICE,
                folder,
                0o755,
                7,
                [belongs, "move the file to a folder that only you can write"],
            ),
            (ROOT, file, 0o777, 0, [shared, "chmod go-w it"]),
            (
                ROOT,
                folder,
                0o777,
                0,
                [shared, "move the file to a folder that only root can write, such as /root"],
            ),
        ] {
            assert_eq!(judged(caller, kind, mode, [user, 0]), expected.concat());
        }
    }

    #[test]
    fn the_group_of_a_caller_other_than_root_may_write_what_is_the_callers() {
        for kind in [FileType::RegularFile, FileType::Directory] {
            assert_eq!(judged(ALICE, kind, 0o775, [1000, 1000]), "Trusted");
            for (caller, mode, owner) in [
                (ALICE, 0o775, [1000, 100]),
                (ALICE, 0o777, [1000, 1000]),
                (ALICE, 0o775, [7, 1000]),
                (ROOT, 0o775, [0, 0]),
            ] {
                assert!(judged(caller, kind, mode, owner).contains(": "), "{caller:?} {mode:o}");
            }
        }
    }
}
