//! The running machine, or a folder that holds a copy of one.

use super::copy::Copy;
use super::whole::{End, read_all};
use super::{Source, check_names, cpuid_name, driver, isst, kernel_log, missing, not_a_link};
use crate::folders::entries;
use crate::ipmi::Controller;
use facts::ipmi::Question;
use facts::links::ethtool;
use facts::power::speed_select;
use facts::{Fact, Missing, Origin, Why, limits, msr};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, StatxFlags, statx};
use rustix::io::Errno;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__cpuid_count, CpuidResult};

/// A host whose files are files here.
#[derive(Debug)]
pub struct Live {
    /// `None` for this machine.
    copy: Option<Copy>,
    /// Folders of hosts below the root, that of the copy first; none for this machine.
    roots: Vec<String>,
    /// The msr device that was opened last, by its CPU: registers are asked for CPU by CPU, and opening costs more
    /// than reading.
    msr_device: RefCell<Option<(u32, OwnedFd)>>,
}

impl Live {
    /// The machine we run on.
    pub fn this_machine() -> Live {
        Live { copy: None, roots: Vec::new(), msr_device: RefCell::default() }
    }

    /// The copy of a host below `root`: the folder that holds `proc` or `sys`, at `root` itself or at any
    /// leading folder, as sosreports and support bundles have.
    ///
    /// Errors: `root` cannot be opened, or no folder in it holds `proc` or `sys`.
    pub fn copy(root: &Path) -> Result<Live, Missing> {
        let name = || root.display().to_string();
        // Of a folder that may not be read nothing is known.
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(root, flags, Mode::empty()).map_err(|error| missing(&name(), error))?;
        let found = folders_of_hosts(root);
        let first = found.first().ok_or_else(|| Missing {
            what: name(),
            why: Why::Failed(
                "no folder in it holds proc/ or sys/, as a copy of a host does".into(),
            ),
        })?;
        let copy = Some(Copy::below(first).map_err(|error| missing(&name(), error))?);
        let roots = found.iter().map(|it| it.display().to_string()).collect();
        Ok(Live { copy, roots, msr_device: RefCell::default() })
    }

    /// The name of the host; empty where it is unknown.
    pub fn host_name(&self) -> String {
        let name = self.read("/proc/sys/kernel/hostname").unwrap_or_default();
        String::from_utf8_lossy(&name).trim().to_owned()
    }

    fn open(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        match &self.copy {
            None => {
                let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK;
                rustix::fs::open(path, flags, Mode::empty())
            }
            Some(copy) => copy.open(path, flags),
        }
    }

    /// Opens a file that is going to be read more than once.
    pub(crate) fn file(&self, path: &str) -> Fact<OwnedFd> {
        match &self.copy {
            None => self.open(path, OFlags::RDONLY).map_err(|error| missing(path, error)),
            Some(copy) => copy.regular_file(path).map(|(file, _)| file),
        }
    }

    /// Opens a folder that is going to be listed more than once.
    pub(crate) fn folder(&self, path: &str) -> Fact<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        self.open(path, flags).map_err(|error| self.missing(path, error))
    }

    /// How many links a folder has: two, and one for each folder in it, where its file system counts them.
    pub(crate) fn links(&self, path: &str) -> Fact<u32> {
        let wanted = StatxFlags::NLINK;
        // That of this machine needs no descriptor, which costs three times as much.
        let stat = match &self.copy {
            None => statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted),
            Some(_) => statx(self.folder(path)?, "", AtFlags::EMPTY_PATH, wanted),
        };
        Ok(stat.map_err(|error| self.missing(path, error))?.stx_nlink)
    }

    /// What is in a folder, in order of the names.
    fn entries(&self, folder: &str) -> Fact<Vec<(String, FileType)>> {
        let listed = match &self.copy {
            None => self
                .open(folder, OFlags::RDONLY | OFlags::DIRECTORY)
                .and_then(Dir::new)
                .and_then(|mut it| entries(&mut it, limits::most_names(folder))),
            Some(copy) => copy.list(folder),
        };
        let found = listed.map_err(|error| self.missing(folder, error))?;
        check_names(folder, found)
    }

    fn missing(&self, path: &str, error: Errno) -> Missing {
        match &self.copy {
            None => missing(path, error),
            Some(copy) => copy.missing(path, error),
        }
    }
}

impl Source for Live {
    fn origin(&self) -> Origin {
        if self.copy.is_some() { Origin::Tree } else { Origin::Live }
    }

    fn read(&self, path: &str) -> Fact<Vec<u8>> {
        if path == kernel_log::DEVICE && self.copy.is_none() {
            return kernel_log::read();
        }
        let (file, end) = match &self.copy {
            None => {
                let file = self.open(path, OFlags::RDONLY).map_err(|error| missing(path, error))?;
                (file, End::of_kernel(path))
            }
            Some(copy) => copy.regular_file(path).map(|(file, size)| (file, End::Size(size)))?,
        };
        read_all(file.as_fd(), path, end)
    }

    fn part(&self, path: &str, offset: usize, length: usize) -> Fact<Vec<u8>> {
        let file = self.file(path)?;
        let mut bytes = vec![0; length];
        let mut n_read = 0;
        while n_read < length {
            match rustix::io::pread(&file, &mut bytes[n_read..], (offset + n_read) as u64) {
                Ok(0) => break,
                Ok(n) => n_read += n,
                Err(Errno::INTR) => {}
                Err(error) => return Err(missing(path, error)),
            }
        }
        bytes.truncate(n_read);
        Ok(bytes)
    }

    fn list(&self, folder: &str) -> Fact<Vec<String>> {
        Ok(self.entries(folder)?.into_iter().map(|(name, _)| name).collect())
    }

    fn folders(&self, folder: &str) -> Fact<Vec<String>> {
        let entries = self.entries(folder)?.into_iter();
        Ok(entries.filter(|it| it.1 == FileType::Directory).map(|(name, _)| name).collect())
    }

    fn link(&self, path: &str) -> Fact<String> {
        let read = || match &self.copy {
            None => rustix::fs::readlinkat(CWD, path, Vec::new()),
            Some(copy) => copy.link(path),
        };
        read().map(|target| target.to_string_lossy().into_owned()).map_err(|error| match error {
            // A file or a folder, as copying by its content leaves it.
            Errno::INVAL if self.copy.is_some() => not_a_link(path),
            _ => self.missing(path, error),
        })
    }

    /// Errors are those of arch/x86/kernel/msr.c: EPERM without CAP_SYS_RAWIO, EIO for a register that the
    /// CPU refuses, ENXIO for an offline CPU, ENOENT without the module.
    fn msr(&self, cpu: u32, register: u32) -> Fact<u64> {
        let name = msr::path(cpu, register);
        if self.copy.is_some() {
            return Err(Missing::not_collected(name));
        }
        let mut opened = self.msr_device.borrow_mut();
        let device = match opened.take() {
            Some((of, device)) if of == cpu => device,
            _ => self
                .open(&msr_device(cpu), OFlags::RDONLY)
                .map_err(|error| missing(&name, error))?,
        };
        let (_, device) = opened.insert((cpu, device));
        read_register(device.as_fd(), cpu, register)
    }

    #[cfg(target_arch = "x86_64")]
    fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]> {
        let name = cpuid_name(leaf, subleaf);
        if self.copy.is_some() {
            return Err(Missing::not_collected(name));
        }
        // A leaf above the highest repeats the highest one on Intel (SDM vol. 2A, CPUID).
        // Basic leaves begin at 0, those of a hypervisor at 0x40000000, extended ones at 0x80000000.
        let [highest, ..] = cpuid(leaf & 0xc000_0000, 0);
        if leaf > highest {
            return Err(Missing::not_here(name, format!("the highest CPUID leaf is {highest:#x}")));
        }
        Ok(cpuid(leaf, subleaf))
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]> {
        Err(Missing::not_here(cpuid_name(leaf, subleaf), "CPUID is an x86 instruction"))
    }

    /// A controller is left alone: see [`super::controller::WithController`].
    fn controller(&self, question: &Question<Vec<u8>>) -> Fact<Vec<u8>> {
        let path = question.path();
        Err(match &self.copy {
            Some(_) => Missing::not_collected(path),
            None if Controller::exists(Path::new("/")) => Missing::left_alone(path),
            None => Missing::absent(path),
        })
    }

    fn ethtool(&self, interface: &str, question: ethtool::Question) -> Fact<Vec<u8>> {
        match self.copy {
            None => driver::ask(interface, question),
            Some(_) => Err(Missing::not_collected(question.name(interface))),
        }
    }

    fn speed_select(&self, question: speed_select::Question) -> Fact<Vec<u8>> {
        match self.copy {
            None => isst::ask(question),
            Some(_) => Err(Missing::not_collected(question.name())),
        }
    }

    fn roots(&self) -> &[String] {
        &self.roots
    }
}

/// EAX, EBX, ECX and EDX of a leaf.
#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "the instruction has a safe function in newer versions of Rust only"
)]
fn cpuid(leaf: u32, subleaf: u32) -> [u32; 4] {
    // As an unsafe function it is called alike in every version.
    let instruction: unsafe fn(u32, u32) -> CpuidResult = __cpuid_count;
    // SAFETY: every x86-64 processor has the instruction, and it only writes these four registers.
    let CpuidResult { eax, ebx, ecx, edx } = unsafe { instruction(leaf, subleaf) };
    [eax, ebx, ecx, edx]
}

/// The msr device of a CPU.
pub(crate) fn msr_device(cpu: u32) -> String {
    format!("/dev/cpu/{cpu}/msr")
}

/// A register, by the opened device of its CPU.
pub(crate) fn read_register(device: BorrowedFd<'_>, cpu: u32, register: u32) -> Fact<u64> {
    let mut value = [0; 8];
    let name = || msr::path(cpu, register);
    match rustix::io::pread(device, &mut value, u64::from(register)) {
        Ok(8) => Ok(u64::from_ne_bytes(value)),
        Ok(_) => Err(Missing::malformed(name(), "a short answer", "8 bytes")),
        Err(error) => Err(missing(&name(), error)),
    }
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
