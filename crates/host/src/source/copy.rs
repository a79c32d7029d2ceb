//! A folder that holds a copy of a host.
//!
//! A copy is somebody else's data: every path is resolved inside its root by the kernel (openat2 with
//! RESOLVE_IN_ROOT, Linux 5.6), so that a link to `/etc` or through `..` cannot make us report facts of the
//! analyst's own machine, and only regular files are opened, so that neither a pipe can hang us nor a device node
//! act on that machine.
//!
//! A copy that somebody changes while it is read is not guarded against: a file may be swapped for a device
//! between the look at it and its opening.

use super::absence::{self, At, Kept};
use super::missing;
use super::whole::read_all;
use crate::folders::{Listed, entries, open_below};
use facts::collectors::Known;
use facts::{Fact, Missing, Why, limits};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, readlinkat};
use rustix::io::Errno;
use std::cell::{OnceCell, RefCell};
use std::ffi::CString;
use std::path::Path;

/// A host whose files lie below one folder.
#[derive(Debug)]
pub(super) struct Copy {
    root: OwnedFd,
    /// The folder that a file was asked of last: readers ask for the files of a folder one after the other, and
    /// to resolve its path costs more than to read one of them.
    last_folder: RefCell<Option<(String, OwnedFd)>>,
    /// The folder of folders that was listed last: readers list one and then ask for a file or two of each in it.
    last_listed: RefCell<Option<Listed>>,
    /// The folder of CPUs, which no reader lists before it asks for the files of each.
    cpus: OnceCell<Option<RefCell<Listed>>>,
    /// The folder that something was last missing from, and whether it is empty.
    last_lacking: RefCell<Option<(String, At)>>,
    collector: OnceCell<Option<Known>>,
}

impl Copy {
    /// The copy whose root is the folder at `root`.
    pub(super) fn below(root: &Path) -> Result<Copy, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(root, flags, Mode::empty())?;
        Ok(Copy {
            root,
            last_folder: RefCell::default(),
            last_listed: RefCell::default(),
            cpus: OnceCell::new(),
            last_lacking: RefCell::default(),
            collector: OnceCell::new(),
        })
    }

    /// Opens a path of the host without ever leaving the copy, and without looking at what it is: so only with
    /// flags that open nothing but a place or a folder.
    pub(super) fn open(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        open_below(&self.root, path, flags | OFlags::CLOEXEC, resolve)
    }

    /// What is in a folder.
    pub(super) fn list(&self, path: &str) -> Result<Vec<(String, FileType)>, Errno> {
        let mut folder = Dir::new(self.open_folder(path)?)?;
        let found = entries(&mut folder, limits::most_names(path))?;
        if found.iter().any(|(_, kind)| *kind == FileType::Directory) {
            let open = rustix::io::fcntl_dupfd_cloexec(folder.fd()?, 0)?;
            *self.last_listed.borrow_mut() = Some(Listed::new(path, open, &found));
        }
        Ok(found)
    }

    /// Opens a folder for listing, from the one that it is in, of which a reader may ask for more.
    fn open_folder(&self, path: &str) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        if leads_elsewhere(path) {
            return self.open(path, flags);
        }
        let opened = self.with_folder(path, |parent, name| {
            let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            rustix::fs::openat(parent, name, flags, Mode::empty())
        });
        match opened {
            // A link to a folder, which is resolved inside the copy.
            Err(Errno::NOTDIR | Errno::LOOP) => self.open(path, flags),
            opened => opened,
        }
    }

    /// Opens a regular file, and says how long it claims to be. What it is gets looked at before it is opened: a
    /// bundle that root unpacked holds device nodes, which are devices of this machine, and opening
    /// /dev/watchdog alone resets it.
    pub(super) fn regular_file(&self, path: &str) -> Fact<(OwnedFd, usize)> {
        let opened = self.with_folder(path, |folder, name| {
            let status = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            match FileType::from_raw_mode(status.st_mode) {
                FileType::RegularFile => open_unfollowed(folder, name).map(|it| Some((it, status))),
                FileType::Symlink => self.link_target(path),
                _ => Ok(None),
            }
        });
        match opened {
            Ok(Some((file, status))) => Ok((file, usize::try_from(status.st_size).unwrap_or(0))),
            Ok(None) => Err(Missing::malformed(path, "not a regular file", "a regular file")),
            Err(error) => Err(self.missing(path, error)),
        }
    }

    /// Why something could not be had.
    pub(super) fn missing(&self, path: &str, error: Errno) -> Missing {
        let reason = missing(path, error);
        if reason.why == Why::Absent { absence::missing(path, self) } else { reason }
    }

    /// Where the symbolic link at `path` points; EINVAL where there is something else.
    pub(super) fn link(&self, path: &str) -> Result<CString, Errno> {
        if leads_elsewhere(path) {
            return Err(Errno::NOENT);
        }
        let read = |folder: BorrowedFd<'_>, name: &str| readlinkat(folder, name, Vec::new());
        self.with_folder(path, read)
    }

    /// The folder of CPUs, where `path` is of one of them.
    fn cpus(&self, path: &str) -> Option<&RefCell<Listed>> {
        const CPUS: &str = "/sys/devices/system/cpu";
        path.strip_prefix(CPUS)?.strip_prefix("/cpu")?;
        let open = || {
            let mut folder =
                Dir::new(self.open(CPUS, OFlags::RDONLY | OFlags::DIRECTORY).ok()?).ok()?;
            let found = entries(&mut folder, limits::most_names(CPUS)).ok()?;
            let open = rustix::io::fcntl_dupfd_cloexec(folder.fd().ok()?, 0).ok()?;
            Some(RefCell::new(Listed::new(CPUS, open, &found)))
        };
        self.cpus.get_or_init(open).as_ref()
    }

    /// Asks for what is at `path`, by a folder that is open and the way from there, in which only the last name may be a link.
    fn with_folder<T>(
        &self,
        path: &str,
        ask: impl FnOnce(BorrowedFd<'_>, &str) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut last = self.last_folder.borrow_mut();
        if let Some((of, open)) = &*last
            && of == folder
        {
            return ask(open.as_fd(), name);
        }
        if let Some(listed) = &mut *self.last_listed.borrow_mut()
            && let Some(way) = listed.way(path)
        {
            return ask(listed.folder.as_fd(), way);
        }
        if let Some(cpus) = self.cpus(path) {
            let mut cpus = cpus.borrow_mut();
            if let Some(way) = cpus.way(path) {
                return ask(cpus.folder.as_fd(), way);
            }
        }
        let root_or_below = if folder.is_empty() { "/" } else { folder };
        let open = self.open(root_or_below, OFlags::PATH | OFlags::DIRECTORY)?;
        let (_, open) = last.insert((folder.to_owned(), open));
        ask(open.as_fd(), name)
    }

    /// Opens what a symbolic link leads to, where that is a regular file. The link is followed once, and the file
    /// opened by the descriptor that was looked at (proc_pid_fd(5)).
    fn link_target(&self, path: &str) -> Result<Option<(OwnedFd, Stat)>, Errno> {
        let place = self.open(path, OFlags::PATH)?;
        let status = rustix::fs::fstat(&place)?;
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
            return Ok(None);
        }
        let same = format!("/proc/self/fd/{}", place.as_raw_fd());
        let file = rustix::fs::open(same, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Some((file, status)))
    }
}

impl Copy {
    fn look_at(&self, path: &str) -> At {
        let place = match self.open(path, OFlags::PATH) {
            Ok(place) => place,
            Err(Errno::NOENT | Errno::NOTDIR) if self.link(path).is_err() => return At::Nothing,
            Err(_) => return At::Other,
        };
        let status = rustix::fs::fstat(&place);
        let is_folder = |it: &Stat| FileType::from_raw_mode(it.st_mode) == FileType::Directory;
        if !status.is_ok_and(|it| is_folder(&it)) {
            return At::Other;
        }
        let names = self.open(path, OFlags::RDONLY | OFlags::DIRECTORY).and_then(Dir::new);
        let is_name = |name: &[u8]| name != b"." && name != b"..";
        let is_empty = names.is_ok_and(|mut it| {
            !it.any(|entry| entry.is_ok_and(|it| is_name(it.file_name().to_bytes())))
        });
        At::Folder { is_empty }
    }
}

impl Kept for Copy {
    fn at(&self, path: &str) -> At {
        if let Some((of, at)) = &*self.last_lacking.borrow()
            && of == path
        {
            return *at;
        }
        let at = self.look_at(path);
        if matches!(at, At::Folder { .. }) {
            *self.last_lacking.borrow_mut() = Some((path.to_owned(), at));
        }
        at
    }

    fn collector(&self) -> Option<Known> {
        let holds = |path: &str| self.at(path) != At::Nothing;
        let text = |path: &str| {
            // Why a file is missing takes the collector, which is being looked for.
            let (file, size) = holds(path).then(|| self.regular_file(path).ok()).flatten()?;
            let bytes = read_all(file.as_fd(), path, size).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        *self.collector.get_or_init(|| Known::of_copy(holds, text))
    }
}

/// Whether the last name of a path stands for another folder, from the root of the copy for one out of it.
fn leads_elsewhere(path: &str) -> bool {
    matches!(path.rsplit('/').next(), None | Some("" | "." | ".."))
}

/// Opens one name of a folder, which is no link. O_NONBLOCK, so that nothing can make us wait.
fn open_unfollowed(folder: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay out a copy of a host")]
#[expect(clippy::print_stdout, reason = "a test says that it was skipped")]
mod tests;
