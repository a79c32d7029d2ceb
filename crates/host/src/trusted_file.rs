//! Files that this program obeys: settings, commands, tokens and cached answers that it acts on.
//!
//! Each is opened once. What is checked is what was opened: the file by its descriptor, and every folder and link on the way by
//! theirs, so that nothing that is swapped in between (a link, a folder, the file) is obeyed. Links are followed by hand, since
//! configuration in /etc often consists of them; each has to lie in a folder, and belong to a user, that may be trusted.

use crate::ownership::{Distrusted, Writers, writers};
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// For what a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To be read.
    Read,
    /// To be read, and lengthened at its end.
    Append,
}

/// As many links as the kernel follows: `MAXSYMLINKS` of include/linux/namei.h.
const MOST_LINKS: usize = 40;

/// The whole file; `None` where it is absent.
///
/// Errors: a user other than root and the caller can write the file, or replace it or a folder or link on the way to it; it is
/// no regular file; it cannot be read, or has more than `largest` bytes.
pub fn read(path: &Path, largest: usize) -> Result<Option<Vec<u8>>, Distrusted> {
    let Some(file) = open(path, Access::Read)? else { return Ok(None) };
    let mut bytes = Vec::new();
    let limit = (largest as u64).saturating_add(1);
    file.take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| Distrusted::new(path, error.to_string()))?;
    if bytes.len() > largest {
        return Err(Distrusted::new(path, format!("it has more than {largest} bytes")));
    }
    Ok(Some(bytes))
}

/// The opened file; `None` where it, or a folder on the way to it, is absent.
///
/// Errors: those of [`read`], but that its size is not looked at.
pub fn open(path: &Path, access: Access) -> Result<Option<File>, Distrusted> {
    let absolute = std::path::absolute(path).map_err(|it| Distrusted::new(path, it.to_string()))?;
    let mut walk = Walk::of(&absolute)?;
    while let Some(name) = walk.todo.pop_front() {
        match walk.enter(&name)? {
            Found::Way => {}
            Found::Nothing => return Ok(None),
            Found::File(within) => return walk.file(&name, &within, access).map(Some),
        }
    }
    Err(Distrusted::new(path, "it is a folder, and not a file"))
}

/// A folder that was opened on the way.
struct Folder {
    path: PathBuf,
    file: OwnedFd,
    writers: Writers,
}

/// The way to a file: the folders that were opened from / on, and the names that are left.
struct Walk {
    root: Folder,
    way: Vec<Folder>,
    todo: VecDeque<OsString>,
    n_links: usize,
}

/// What a name leads to.
enum Found {
    /// A folder or a link, which has been followed.
    Way,
    /// A regular file at the end of the way, by its path.
    File(PathBuf),
    Nothing,
}

impl Walk {
    fn of(path: &Path) -> Result<Walk, Distrusted> {
        let root = folder(CWD, OsStr::new("/"), PathBuf::from("/"))?;
        let mut walk = Walk { root, way: Vec::new(), todo: VecDeque::new(), n_links: 0 };
        walk.put_in_front(path);
        Ok(walk)
    }

    fn put_in_front(&mut self, path: &Path) {
        for part in path.components().rev() {
            if matches!(part, Component::Normal(_) | Component::ParentDir) {
                self.todo.push_front(part.as_os_str().to_owned());
            }
        }
    }

    fn here(&self) -> &Folder {
        self.way.last().unwrap_or(&self.root)
    }

    /// Goes on by one name.
    fn enter(&mut self, name: &OsStr) -> Result<Found, Distrusted> {
        if name == ".." {
            self.way.pop();
            return Ok(Found::Way);
        }
        let within = self.here().path.join(name);
        // Opens whatever it is without an effect on it, also a link.
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let found = match rustix::fs::openat(&self.here().file, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(Found::Nothing),
            found => found.map_err(|error| failed(&within, error))?,
        };
        match FileType::from_raw_mode(status(&within, &found)?.st_mode) {
            FileType::Symlink => self.follow(&within, &found)?,
            FileType::Directory => {
                let entered = folder(&self.here().file, name, within)?;
                self.way.push(entered);
            }
            FileType::RegularFile if self.todo.is_empty() => return Ok(Found::File(within)),
            // To open a device has an effect: a watchdog starts.
            kind if self.todo.is_empty() => return Err(not_regular(&within, kind)),
            _ => return Err(Distrusted::new(&within, "it is not a folder")),
        }
        Ok(Found::Way)
    }

    fn follow(&mut self, within: &Path, link: &OwnedFd) -> Result<(), Distrusted> {
        let status = status(within, link)?;
        writers(within, &status)?;
        self.refuse_other_names(within, &status)?;
        self.n_links += 1;
        if self.n_links > MOST_LINKS {
            return Err(failed(within, Errno::LOOP));
        }
        let target =
            rustix::fs::readlinkat(link, "", Vec::new()).map_err(|error| failed(within, error))?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if target.is_absolute() {
            self.way.clear();
        }
        self.put_in_front(&target);
        Ok(())
    }

    /// Opens the file of this name, and checks what was opened.
    fn file(&self, name: &OsStr, within: &Path, access: Access) -> Result<File, Distrusted> {
        let access = match access {
            Access::Read => OFlags::RDONLY,
            Access::Append => OFlags::RDWR | OFlags::APPEND,
        };
        let flags = access | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let found = rustix::fs::openat(&self.here().file, name, flags, Mode::empty())
            .map_err(|error| failed(within, error))?;
        let status = status(within, &found)?;
        // Another one may have taken its name since it was looked at.
        match FileType::from_raw_mode(status.st_mode) {
            FileType::RegularFile => {}
            kind => return Err(not_regular(within, kind)),
        }
        writers(within, &status)?;
        self.refuse_other_names(within, &status)?;
        Ok(File::from(found))
    }

    /// In a folder that everyone writes, a hard link could be another user's choice among the files of root and the caller.
    fn refuse_other_names(&self, within: &Path, status: &Stat) -> Result<(), Distrusted> {
        if self.here().writers == Writers::Everyone && status.st_nlink > 1 {
            let why = "it has other names (hard links), and lies in a folder that everyone writes: move it to a folder of yours";
            return Err(Distrusted::new(within, why));
        }
        Ok(())
    }
}

/// Opens a folder that may be trusted.
fn folder(
    parent: impl rustix::fd::AsFd,
    name: &OsStr,
    path: PathBuf,
) -> Result<Folder, Distrusted> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = |flags| rustix::fs::openat(&parent, name, flags, Mode::empty());
    let file = match open(flags) {
        // One that may be passed and not listed.
        Err(Errno::ACCESS) => open(flags | OFlags::PATH),
        opened => opened,
    };
    let file = file.map_err(|error| failed(&path, error))?;
    let writers = writers(&path, &status(&path, &file)?)?;
    Ok(Folder { path, file, writers })
}

fn status(path: &Path, file: &OwnedFd) -> Result<Stat, Distrusted> {
    rustix::fs::fstat(file).map_err(|error| failed(path, error))
}

fn not_regular(path: &Path, kind: FileType) -> Distrusted {
    Distrusted::new(path, format!("it is {}, and not a regular file", named(kind)))
}

/// What is there, in words.
pub(crate) fn named(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "something else",
    }
}

fn failed(path: &Path, error: Errno) -> Distrusted {
    Distrusted::new(path, std::io::Error::from(error).to_string())
}

#[cfg(test)]
mod tests;
