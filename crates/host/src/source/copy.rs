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
use super::whole::{End, read_all};
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
        if let Some(listed) = &*self.last_listed.borrow()
            && let Some(way) = listed.way(path)
        {
            return ask(listed.folder.as_fd(), way);
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

impl Kept for Copy {
    fn at(&self, path: &str) -> At {
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

    fn collector(&self) -> Option<Known> {
        let holds = |path: &str| self.at(path) != At::Nothing;
        let text = |path: &str| {
            // Why a file is missing takes the collector, which is being looked for.
            let (file, size) = holds(path).then(|| self.regular_file(path).ok()).flatten()?;
            let bytes = read_all(file.as_fd(), path, End::Size(size)).ok()?;
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
mod tests {
    use crate::{Live, Source as _};
    use facts::Missing;
    use rustix::fs::{CWD, FileType, Mode};
    use std::os::unix::fs::symlink;

    fn copy_with_links() -> (tempfile::TempDir, Live) {
        let folder = tempfile::tempdir().unwrap();
        let sys = folder.path().join("bundle/node-1/sys");
        std::fs::create_dir_all(&sys).unwrap();
        std::fs::write(sys.join("value"), "42\n").unwrap();
        symlink("/proc/version", sys.join("absolute")).unwrap();
        symlink("../../../../../../../../proc/version", sys.join("upwards")).unwrap();
        symlink("value", sys.join("inside")).unwrap();
        let live = Live::copy(folder.path()).unwrap();
        (folder, live)
    }

    #[test]
    fn a_copy_is_found_below_leading_folders() {
        let (_folder, live) = copy_with_links();
        assert_eq!(live.read("/sys/value"), Ok(b"42\n".to_vec()));
        assert_eq!(live.list("/sys").unwrap(), ["absolute", "inside", "upwards", "value"]);
    }

    #[test]
    fn links_of_a_copy_never_lead_out_of_it() {
        let (_folder, live) = copy_with_links();
        assert_eq!(live.read("/sys/inside"), Ok(b"42\n".to_vec()));
        assert_eq!(live.link("/sys/inside"), Ok("value".into()));
        assert!(live.read("/sys/absolute").is_err());
        assert!(live.read("/sys/upwards").is_err());
    }

    #[test]
    fn only_a_link_of_a_copy_is_one_and_none_in_a_folder_outside() {
        let (folder, live) = copy_with_links();
        let sys = folder.path().join("bundle/node-1/sys");
        symlink("value", folder.path().join("secret")).unwrap();
        symlink(folder.path(), sys.join("outer")).unwrap();
        symlink(".", sys.join("here")).unwrap();
        assert_eq!(live.link("/sys/here/inside"), Ok("value".into()));
        for path in ["/sys/none", "/sys/..", "/sys/inside/"] {
            assert_eq!(live.link(path), Err(Missing::not_collected(path)));
        }
        let expected = "a symbolic link";
        for path in ["/sys", "/sys/value"] {
            let other = Missing::malformed(path, "no symbolic link", expected);
            assert_eq!(live.link(path), Err(other));
        }
        assert!(live.link("/sys/outer/secret").is_err());
    }

    #[test]
    fn what_a_copy_lacks_is_absent_only_where_that_is_proven() {
        let (folder, live) = copy_with_links();
        let frequency = folder.path().join("bundle/node-1/sys/devices/system/cpu/cpufreq");
        std::fs::create_dir_all(frequency).unwrap();
        let policy = "/sys/devices/system/cpu/cpufreq/policy0";
        assert_eq!(live.list(policy), Err(Missing::absent(policy)));
        assert_eq!(live.read("/sys/other"), Err(Missing::not_collected("/sys/other")));
        assert_eq!(live.read("/proc/cmdline"), Err(Missing::not_collected("/proc/cmdline")));
        assert_eq!(live.msr(0, 0x19a), Err(Missing::not_collected("/dev/cpu/0/msr 0x19a")));
    }

    #[test]
    fn a_file_of_a_copy_is_no_longer_than_its_kind() {
        let (folder, live) = copy_with_links();
        let proc = folder.path().join("bundle/node-1/proc");
        std::fs::create_dir(&proc).unwrap();
        std::fs::write(proc.join("cmdline"), "x".repeat((36 << 10) + 1)).unwrap();
        std::fs::File::create(proc.join("stat")).unwrap().set_len(1 << 40).unwrap();
        let refused = |path: &str, length, limit| {
            assert_eq!(live.read(path), Err(Missing::too_long(path, Some(length), limit)));
        };
        refused("/proc/cmdline", (36 << 10) + 1, 36 << 10);
        refused("/proc/stat", 1 << 40, 16 << 20);
        std::fs::write(proc.join("cmdline"), "x".repeat(36 << 10)).unwrap();
        assert_eq!(live.read("/proc/cmdline").map(|it| it.len()), Ok(36 << 10));
    }

    #[test]
    fn what_is_no_file_in_a_copy_is_refused_without_being_opened() {
        let (folder, live) = copy_with_links();
        let sys = folder.path().join("bundle/node-1/sys");
        // Opening a socket fails with ENXIO, which would read as "absent".
        let _listener = std::os::unix::net::UnixListener::bind(sys.join("socket")).unwrap();
        assert!(live.read("/sys/socket").unwrap_err().to_string().contains("regular file"));
    }

    #[test]
    fn a_pipe_in_a_copy_is_refused_and_does_not_hang() {
        let (folder, live) = copy_with_links();
        let pipe = folder.path().join("bundle/node-1/sys/pipe");
        rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert!(live.read("/sys/pipe").unwrap_err().to_string().contains("regular file"));
    }
    #[test]
    fn a_link_to_a_pipe_in_a_copy_is_refused_and_does_not_hang() {
        let (folder, live) = copy_with_links();
        let sys = folder.path().join("bundle/node-1/sys");
        rustix::fs::mknodat(CWD, sys.join("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        symlink("pipe", sys.join("link")).unwrap();
        assert!(live.read("/sys/link").unwrap_err().to_string().contains("regular file"));
    }

    #[test]
    fn a_device_in_a_copy_is_refused_without_being_opened() {
        let (folder, live) = copy_with_links();
        let sys = folder.path().join("bundle/node-1/sys");
        // No driver has this number: opening the node fails with ENXIO, which would read as "absent".
        let nobody = rustix::fs::makedev(511, 0xf_ffff);
        let device = sys.join("device");
        let made = rustix::fs::mknodat(CWD, &device, FileType::CharacterDevice, Mode::RUSR, nobody);
        if made.is_err() {
            println!("skipped: only root makes device nodes");
            return;
        }
        symlink("device", sys.join("link")).unwrap();
        for path in ["/sys/device", "/sys/link"] {
            assert!(live.read(path).unwrap_err().to_string().contains("regular file"), "{path}");
        }
    }

    #[test]
    fn folders_that_are_links_never_lead_out_of_a_copy() {
        let (folder, live) = copy_with_links();
        let sys = folder.path().join("bundle/node-1/sys");
        std::fs::write(folder.path().join("secret"), "7\n").unwrap();
        std::fs::create_dir(sys.join("real")).unwrap();
        std::fs::write(sys.join("real/value"), "43\n").unwrap();
        symlink("real", sys.join("inner")).unwrap();
        symlink(folder.path(), sys.join("outer")).unwrap();
        symlink("../../..", sys.join("above")).unwrap();
        assert_eq!(live.read("/sys/inner/value"), Ok(b"43\n".to_vec()));
        for path in ["/sys/outer/secret", "/sys/above/secret", "/sys/real/../../../../secret"] {
            assert!(live.read(path).is_err(), "{path}");
        }
        assert!(live.read("/..").is_err());
        assert_eq!(live.list("/sys/inner").unwrap(), ["value"]);
        assert_eq!(live.list("/sys/real").unwrap(), ["value"]);
        assert!(live.list("/sys/outer").is_err());
        assert_eq!(live.list("/sys/above").unwrap(), live.list("/").unwrap());
        assert_eq!(live.list("/..").unwrap(), live.list("/").unwrap());
        assert!(live.list("/sys/value").is_err());
    }

    #[test]
    fn files_of_one_name_in_two_folders_are_told_apart() {
        let (folder, live) = copy_with_links();
        let sys = folder.path().join("bundle/node-1/sys");
        std::fs::create_dir(sys.join("other")).unwrap();
        std::fs::write(sys.join("other/value"), "43\n").unwrap();
        for _ in 0..2 {
            assert_eq!(live.read("/sys/value"), Ok(b"42\n".to_vec()));
            assert_eq!(live.read("/sys/other/value"), Ok(b"43\n".to_vec()));
            assert_eq!(
                live.read("/sys/none/value"),
                Err(Missing::not_collected("/sys/none/value"))
            );
        }
    }
}
