//! The state folder, and why it may be trusted: nobody but root and the caller can change what is in it or where it leads.
//!
//! Whoever can write the journal can have root write what they like when it reverts.

use crate::change::JournalError;
use crate::ownership::{Distrusted, Writers, writers};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, StatVfsMountFlags};
use rustix::io::Errno;
use std::path::{Component, Path, PathBuf};

/// An opened folder that can be trusted.
#[derive(Debug)]
pub(in crate::change) struct Folder {
    pub(super) path: PathBuf,
    pub(super) file: OwnedFd,
    /// Whether a folder above it is written by everybody.
    is_below_shared: bool,
}

/// Opens the state folder, and creates it where it is absent and `creates`; `None` where it is absent.
pub(in crate::change) fn open(path: &Path, creates: bool) -> Result<Option<Folder>, JournalError> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::RootDir => {}
            Component::Normal(name) => names.push(name),
            _ => return Err(refused(path, "it is not an absolute path without `..`: give one")),
        }
    }
    if !path.is_absolute() || names.is_empty() {
        return Err(refused(path, "it is not an absolute path to a folder: give one"));
    }
    let root = PathBuf::from("/");
    let file = open_at(CWD, &root).map_err(|error| not_opened(&root, error))?;
    let mut folder = Folder { path: root, file, is_below_shared: false };
    folder.is_below_shared = look(&folder)?;
    let last = names.len() - 1;
    for (place, name) in names.into_iter().enumerate() {
        let within = folder.path.join(name);
        let is_last = place == last;
        if is_last && creates {
            create(&folder, &within)?;
        }
        let file = match open_at(&folder.file, Path::new(name)) {
            Ok(file) => file,
            Err(Errno::NOENT) if !creates || !is_last => {
                return if creates { Err(io(&within, "opened", Errno::NOENT)) } else { Ok(None) };
            }
            Err(error) => return Err(not_opened(&within, error)),
        };
        let is_below_shared = folder.is_below_shared;
        folder = Folder { path: within, file, is_below_shared };
        folder.is_below_shared |= look(&folder)?;
    }
    folder.is_still_ours()?;
    Ok(Some(folder))
}

fn create(parent: &Folder, path: &Path) -> Result<(), JournalError> {
    let name = path.file_name().unwrap_or_default();
    match rustix::fs::mkdirat(&parent.file, name, Mode::RWXU) {
        Ok(()) => {
            let parent = rustix::fs::open(
                path.parent().unwrap_or(path),
                OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
                Mode::empty(),
            );
            parent
                .and_then(|it| rustix::fs::fsync(&it))
                .map_err(|error| io(path, "written to disk", error))
        }
        Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(io(path, "created", error)),
    }
}

fn open_at(folder: impl rustix::fd::AsFd, name: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(&folder, name, flags, Mode::empty()) {
        // A parent that may be passed and not listed.
        Err(Errno::ACCESS) => {
            rustix::fs::openat(&folder, name, flags | OFlags::PATH, Mode::empty())
        }
        answer => answer,
    }
}

/// Whether everybody may write it, which the sticky bit makes bearable: what is ours in it stays ours.
fn look(folder: &Folder) -> Result<bool, JournalError> {
    match writers(&folder.path, &status(folder)?) {
        Ok(writers) => Ok(writers == Writers::Everyone),
        Err(Distrusted { path, why }) => {
            Err(refused(&path, &format!("{why}, or use another --state-dir")))
        }
    }
}

fn status(folder: &Folder) -> Result<Stat, JournalError> {
    rustix::fs::statat(&folder.file, "", AtFlags::EMPTY_PATH)
        .map_err(|error| io(&folder.path, "looked at", error))
}

impl Folder {
    /// Opens a state folder that is there.
    pub(in crate::change) fn existing(path: &Path) -> Result<Folder, JournalError> {
        open(path, false)?.ok_or_else(|| io(path, "opened", Errno::NOENT))
    }

    /// The same folder once more.
    pub(in crate::change) fn again(&self) -> Result<Folder, JournalError> {
        let file = self.file.try_clone().map_err(|error| {
            let errno = Errno::from_io_error(&error).unwrap_or(Errno::MFILE);
            io(&self.path, "opened", errno)
        })?;
        Ok(Folder { path: self.path.clone(), file, is_below_shared: self.is_below_shared })
    }

    /// Error: by now others can write it. Wherever it was moved to, what is opened here is in it.
    pub(super) fn is_still_ours(&self) -> Result<(), JournalError> {
        let is_shared = look(self)? || self.is_below_shared;
        if is_shared && status(self)?.st_mode & 0o077 != 0 {
            let why = "it lies below a folder that everybody writes, and is open to others: `chmod 700` it";
            return Err(refused(&self.path, why));
        }
        Ok(())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        let found = rustix::fs::statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW);
        !matches!(found, Err(Errno::NOENT))
    }

    pub(super) fn is_read_only(&self) -> bool {
        let flags = rustix::fs::fstatvfs(&self.file).map(|it| it.f_flag);
        flags.is_ok_and(|it| it.contains(StatVfsMountFlags::RDONLY))
    }

    /// Removes a file that nothing depends on.
    pub(super) fn tidy(&self, name: &str) {
        let _may_stay = rustix::fs::unlinkat(&self.file, name, AtFlags::empty());
    }

    /// Opens a file of the folder, and creates it where `flags` say so; only if nobody else could have written it.
    pub(super) fn open_file(&self, name: &str, flags: OFlags) -> Result<OwnedFd, JournalError> {
        let path = self.path.join(name);
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = rustix::fs::openat(&self.file, name, flags, mode)
            .map_err(|error| not_opened(&path, error))?;
        let status = rustix::fs::fstat(&file).map_err(|error| io(&path, "looked at", error))?;
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile || status.st_nlink > 1 {
            return Err(refused(&path, "it is not a file of one name: move it away"));
        }
        writers(&path, &status)?;
        Ok(file)
    }
}

fn refused(path: &Path, why: &str) -> JournalError {
    Distrusted::new(path, why).into()
}

fn not_opened(path: &Path, error: Errno) -> JournalError {
    match error {
        Errno::LOOP => {
            refused(path, "it is a link, and those are not followed: name the place it leads to")
        }
        Errno::NOTDIR => {
            refused(path, "it is not a folder, or a link to one, which is not followed")
        }
        _ => io(path, "opened", error),
    }
}

/// What the system refused, and what to do about it.
pub(super) fn io(path: &Path, doing: &'static str, error: Errno) -> JournalError {
    let text = std::io::Error::from(error).to_string();
    let advice = match error {
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => {
            ": make room there, or use another --state-dir"
        }
        Errno::ACCESS | Errno::PERM => ": run it as root",
        Errno::ROFS => ": use a --state-dir that can be written",
        Errno::NOENT => ": create it, or use another --state-dir",
        Errno::IO => ": see the kernel's log for what the disk reports",
        _ => "",
    };
    JournalError::Io { path: path.to_owned(), doing, why: format!("{text}{advice}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::chmod;

    fn mode(path: &Path, bits: u32) {
        chmod(path, Mode::from_raw_mode(bits)).unwrap();
    }

    fn why(path: &Path) -> String {
        open(path, true).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn a_folder_is_created_for_its_owner_alone() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("state");
        assert!(open(&path, false).unwrap().is_none());
        let folder = open(&path, true).unwrap().unwrap();
        assert_eq!(status(&folder).unwrap().st_mode & 0o7777, 0o700);
    }

    #[test]
    fn a_folder_that_others_can_write_or_replace_is_refused() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("state");
        open(&path, true).unwrap();
        for (bits, expected) in [
            (0o777, "others can write it (mode 777): "),
            (0o707, "others can write it (mode 707): "),
            (0o770, ""),
            (0o1777, "chmod 700"),
            (0o755, "chmod 700"),
        ] {
            mode(&path, bits);
            assert!(why(&path).contains(expected), "{bits:o}: {}", why(&path));
        }
        mode(&path, 0o700);
        let file = path.join("journal");
        drop(rustix::fs::open(&file, OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap());
        mode(&file, 0o602);
        let folder = open(&path, false).unwrap().unwrap();
        let why_file = folder.open_file("journal", OFlags::RDONLY).unwrap_err().to_string();
        assert!(why_file.ends_with("others can write it (mode 602): chmod go-w it"), "{why_file}");
        mode(outer.path(), 0o777);
        assert!(why(&path).contains("others can write it"), "{}", why(&path));
        mode(outer.path(), 0o700);
        assert!(open(&path, true).is_ok());
    }

    #[test]
    fn links_are_refused_wherever_they_are() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("real");
        open(&path, true).unwrap();
        let link = outer.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(why(&link).contains("link"), "{}", why(&link));
        assert!(why(&link.join("state")).contains("link"));
        assert!(why(Path::new("state")).contains("absolute"));
        assert!(why(&path.join("../real")).contains("`..`"));
    }
}
