//! The running machine, or a folder that holds a copy of one.
//!
//! A copy is somebody else's data: every path is resolved inside its root by the kernel (openat2 with
//! RESOLVE_IN_ROOT, Linux 5.6), so that a link to `/etc` or through `..` cannot make us report facts of the
//! analyst's own machine, and only regular files are opened, so that neither a pipe can hang us nor a device node
//! act on that machine.

use super::{LARGEST_FILE, Source, cpuid_name};
use facts::{Fact, Missing, Origin, Why, msr};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// A host whose files are files here.
#[derive(Debug)]
pub struct Live {
    /// The root folder of a copy; `None` for this machine.
    copy: Option<OwnedFd>,
    /// Folders of other hosts beside the copy.
    others: Vec<String>,
    /// The msr device that was opened last, by its CPU: registers are asked for CPU by CPU, and opening costs more
    /// than reading.
    msr_device: RefCell<Option<(u32, OwnedFd)>>,
}

impl Live {
    /// The machine we run on.
    pub fn this_machine() -> Live {
        Live { copy: None, others: Vec::new(), msr_device: RefCell::default() }
    }

    /// The copy of a host below `root`: the folder that holds `proc` or `sys`, at `root` itself or at any
    /// leading folder, as sosreports and support bundles have.
    ///
    /// Errors: `root` cannot be opened, or no folder in it holds `proc` or `sys`.
    pub fn copy(root: &Path) -> Result<Live, Missing> {
        let name = || root.display().to_string();
        let mut found = folders_of_hosts(root).into_iter();
        let first = found.next().ok_or_else(|| {
            Missing::malformed(name(), "no such folder in it", "a folder that holds proc/ or sys/")
        })?;
        let open = rustix::fs::open(&first, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        let copy = Some(open.map_err(|error| missing(&name(), error))?);
        let others = found.map(|it| it.display().to_string()).collect();
        Ok(Live { copy, others, msr_device: RefCell::default() })
    }

    fn open(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        // openat2 takes O_PATH only with flags that mean something to it.
        let wait = if flags.contains(OFlags::PATH) { OFlags::empty() } else { OFlags::NONBLOCK };
        let flags = flags | OFlags::CLOEXEC | wait;
        match &self.copy {
            None => rustix::fs::open(path, flags, Mode::empty()),
            Some(root) => {
                let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
                rustix::fs::openat2(root.as_fd(), path, flags, Mode::empty(), resolve)
            }
        }
    }

    /// Opens a file of a copy. What it is gets looked at before it is opened: a bundle that root unpacked
    /// holds device nodes, which are devices of this machine, and opening /dev/watchdog alone resets it.
    fn regular_file(&self, path: &str) -> Fact<(OwnedFd, usize)> {
        let place = self.open(path, OFlags::PATH).map_err(|error| self.missing(path, error))?;
        let status = rustix::fs::fstat(&place).map_err(|error| missing(path, error))?;
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
            return Err(Missing::malformed(path, "not a regular file", "a regular file"));
        }
        // By its descriptor, so that it is the file that was looked at (proc_pid_fd(5)).
        let same = format!("/proc/self/fd/{}", place.as_raw_fd());
        rustix::fs::open(same, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .map(|file| (file, usize::try_from(status.st_size).unwrap_or(0)))
            .map_err(|error| missing(path, error))
    }

    /// In a copy, a missing file is the host's only where its folder was collected.
    fn missing(&self, path: &str, error: Errno) -> Missing {
        let reason = missing(path, error);
        if self.copy.is_none() || reason.why != Why::Absent {
            return reason;
        }
        let parent = path.trim_end_matches('/').rsplit_once('/').map_or("/", |(parent, _)| parent);
        match self.open(parent, OFlags::PATH | OFlags::DIRECTORY) {
            Ok(_) if !parent.is_empty() => reason,
            _ => Missing::not_collected(path),
        }
    }
}

impl Source for Live {
    fn origin(&self) -> Origin {
        if self.copy.is_some() { Origin::Tree } else { Origin::Live }
    }

    fn read(&self, path: &str) -> Fact<Vec<u8>> {
        let (file, size) = match &self.copy {
            None => (self.open(path, OFlags::RDONLY).map_err(|error| missing(path, error))?, 0),
            Some(_) => self.regular_file(path)?,
        };
        read_all(file.as_fd(), path, size)
    }

    fn list(&self, folder: &str) -> Fact<Vec<String>> {
        let open = self.open(folder, OFlags::RDONLY | OFlags::DIRECTORY);
        let entries = open.and_then(Dir::new).map_err(|error| self.missing(folder, error))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| missing(folder, error))?;
            let name = entry.file_name().to_string_lossy();
            if name != "." && name != ".." {
                names.push(name.into_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn link(&self, path: &str) -> Fact<String> {
        let read = || match &self.copy {
            None => rustix::fs::readlinkat(CWD, path, Vec::new()),
            Some(_) => {
                let link = self.open(path, OFlags::PATH | OFlags::NOFOLLOW)?;
                rustix::fs::readlinkat(link, "", Vec::new())
            }
        };
        read()
            .map(|target| target.to_string_lossy().into_owned())
            .map_err(|error| self.missing(path, error))
    }

    /// Errors are those of arch/x86/kernel/msr.c: EPERM without CAP_SYS_RAWIO, EIO for a register that the
    /// CPU refuses, ENXIO for an offline CPU, ENOENT without the module.
    fn msr(&self, cpu: u32, register: u32) -> Fact<u64> {
        let name = msr::path(cpu, register);
        if self.copy.is_some() {
            return Err(Missing::not_collected(name));
        }
        let mut value = [0; 8];
        let mut opened = self.msr_device.borrow_mut();
        let device = match opened.take() {
            Some((of, device)) if of == cpu => Ok(device),
            _ => self.open(&format!("/dev/cpu/{cpu}/msr"), OFlags::RDONLY),
        };
        device
            .and_then(|device| {
                let (_, device) = opened.insert((cpu, device));
                rustix::io::pread(device, &mut value, u64::from(register))
            })
            .map_err(|error| missing(&name, error))
            .and_then(|n_read| match n_read {
                8 => Ok(u64::from_ne_bytes(value)),
                _ => Err(Missing::malformed(name.as_str(), "a short answer", "8 bytes")),
            })
    }

    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]> {
        let name = cpuid_name(leaf, subleaf);
        if self.copy.is_some() {
            return Err(Missing::not_collected(name));
        }
        // A leaf above the highest repeats the highest one on Intel (SDM vol. 2A, CPUID).
        let highest = raw_cpuid::cpuid!(leaf & 0x8000_0000).eax;
        if leaf > highest {
            return Err(Missing::not_here(name, format!("the highest CPUID leaf is {highest:#x}")));
        }
        let answer = raw_cpuid::cpuid!(leaf, subleaf);
        Ok([answer.eax, answer.ebx, answer.ecx, answer.edx])
    }

    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
    fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]> {
        Err(Missing::not_here(cpuid_name(leaf, subleaf), "CPUID is an x86 instruction"))
    }

    fn other_roots(&self) -> &[String] {
        &self.others
    }
}

/// Reads to the end in one buffer: most files of sysfs fit the first read. A file that is not on a disk has a
/// `size` of 0 (procfs) or of a page (sysfs), so only one that is read to its very size is known to end there.
fn read_all(file: BorrowedFd<'_>, path: &str, size: usize) -> Fact<Vec<u8>> {
    const PAGE: usize = 4096;
    let expected = if size == 0 { PAGE } else { size.min(LARGEST_FILE) };
    let mut bytes = Vec::with_capacity(expected + 1);
    loop {
        if bytes.capacity() == bytes.len() {
            bytes.reserve(bytes.len());
        }
        match rustix::io::read(file, rustix::buffer::spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(_) if bytes.len() > LARGEST_FILE => {
                return Err(Missing::malformed(
                    path,
                    "more than 64 MiB",
                    "a file of at most 64 MiB",
                ));
            }
            Ok(_) if bytes.len() == size => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(missing(path, error)),
        }
    }
    bytes.shrink_to_fit();
    Ok(bytes)
}

/// What an error number says about a fact.
fn missing(what: &str, error: Errno) -> Missing {
    let why = match error {
        Errno::NOENT | Errno::NOTDIR | Errno::NXIO | Errno::NODEV => Why::Absent,
        Errno::ACCESS | Errno::PERM => Why::Denied,
        // ELOOP is also what a copy's link to outside of itself gives.
        other => Why::Failed(std::io::Error::from(other).to_string()),
    };
    Missing { what: what.to_owned(), why }
}

/// The folders nearest to `root` that hold `proc` or `sys`, sorted.
#[expect(
    clippy::disallowed_methods,
    reason = "looks for the root that every later read is confined to"
)]
fn folders_of_hosts(root: &Path) -> Vec<PathBuf> {
    /// A bundle is a folder in a folder or two; deeper ones (must-gather) have a node's name in between.
    const DEEPEST: usize = 6;
    /// A folder of more folders than this is a disk, not a bundle.
    const MOST_FOLDERS: usize = 100_000;
    let mut level = vec![root.to_owned()];
    for _ in 0..DEEPEST {
        let is_host = |it: &&PathBuf| it.join("sys").is_dir() || it.join("proc").is_dir();
        let found: Vec<PathBuf> = level.iter().filter(is_host).cloned().collect();
        if !found.is_empty() {
            return found;
        }
        let entries = level.iter().filter_map(|folder| std::fs::read_dir(folder).ok());
        let folders =
            entries.flatten().flatten().filter(|it| it.file_type().is_ok_and(|it| it.is_dir()));
        level = folders.map(|it| it.path()).take(MOST_FOLDERS).collect();
        level.sort_unstable();
    }
    Vec::new()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay out a copy of a host")]
mod tests {
    use super::*;
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
    fn what_a_copy_lacks_is_absent_only_beside_what_it_holds() {
        let (_folder, live) = copy_with_links();
        assert_eq!(live.read("/sys/other"), Err(Missing::absent("/sys/other")));
        assert_eq!(live.read("/proc/cmdline"), Err(Missing::not_collected("/proc/cmdline")));
        assert_eq!(live.msr(0, 0x19a), Err(Missing::not_collected("/dev/cpu/0/msr 0x19a")));
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
}
