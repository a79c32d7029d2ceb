//! Files that are read again and again.
//!
//! Opening a file of sysfs costs more than reading it, so descriptors are kept; pread(2) at offset 0 has the
//! kernel write the file anew (fs/seq_file.c, seq_read_iter). One buffer serves all of them, and grows to the
//! largest. A kept descriptor also pins an identity: that of a task that died answers ESRCH, that of a CPU's
//! folder that was removed ENODEV, and neither ever shows its successor.

use crate::source::live::{self, read_register};
use crate::source::missing;
use crate::{Live, Source};
use facts::limits::LARGEST_FILE;
use facts::{Fact, Missing, Origin, Why};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Descriptors that are left to the rest of the program: its own files, perf events and libraries.
const RESERVED: usize = 256;

/// Where files are opened, and what they are read into.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) live: Live,
    buffer: Vec<u8>,
    /// How many more descriptors may be kept.
    n_left: usize,
    msr_devices: MsrDevices,
}

/// A file, and its descriptor once it was read.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: Box<str>,
    kept: Option<OwnedFd>,
    ends: Ends,
    may_be_kept: bool,
}

/// How the end of a file shows.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ends {
    /// The kernel writes all of it at once: a read that does not fill the buffer is the last.
    AtShortRead,
    /// The kernel writes it line by line, some of them each time.
    AtNothing,
}

impl File {
    /// A file that the kernel writes at once, as all of sysfs.
    pub(super) fn new(path: impl Into<Box<str>>) -> File {
        File { path: path.into(), kept: None, ends: Ends::AtShortRead, may_be_kept: true }
    }

    /// The same, opened each time.
    pub(super) fn unkept(path: impl Into<Box<str>>) -> File {
        File { may_be_kept: false, ..File::new(path) }
    }

    /// A file that the kernel writes line by line.
    pub(super) fn of_lines(path: impl Into<Box<str>>) -> File {
        File { ends: Ends::AtNothing, ..File::new(path) }
    }

    /// Whether its descriptor is kept.
    pub(super) fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    fn missing(&self, error: Errno) -> Missing {
        missing(&self.path, error)
    }
}

impl Files {
    /// Files of `live`. Raises this process's limit of open files as far as it may.
    pub(super) fn of(live: Live) -> Files {
        let n_left = raise_open_files().saturating_sub(RESERVED);
        let buffer = Vec::with_capacity(1 << 16);
        Files { live, buffer, n_left, msr_devices: MsrDevices::default() }
    }

    /// What the file holds. A descriptor that no longer answers is opened once more: its folder may be back.
    ///
    /// Errors: those of opening and reading; a file of more than 64 MiB.
    pub(super) fn read(&mut self, file: &mut File) -> Fact<&[u8]> {
        if let Some(kept) = &file.kept {
            match read_all(kept, &mut self.buffer, file.ends) {
                Ok(()) => return Ok(&self.buffer),
                Err(_) => self.forget(file),
            }
        }
        let opened = self.live.file(&file.path)?;
        read_all(&opened, &mut self.buffer, file.ends).map_err(|error| file.missing(error))?;
        if file.may_be_kept && self.n_left > 0 {
            self.n_left -= 1;
            file.kept = Some(opened);
        }
        Ok(&self.buffer)
    }

    /// What the file holds, by its descriptor only: whoever bears its name today may be another. `None` once it
    /// is gone. A file without a kept descriptor is opened.
    pub(super) fn read_same(&mut self, file: &mut File) -> Option<&[u8]> {
        match &file.kept {
            Some(kept) => {
                let is_read = read_all(kept, &mut self.buffer, file.ends).is_ok();
                is_read.then_some(&*self.buffer)
            }
            None => self.read(file).ok(),
        }
    }

    /// The number that the file holds, and nothing else.
    pub(super) fn number(&mut self, file: &mut File) -> Fact<u64> {
        let number = facts::counters::number(self.read(file)?);
        number.map_err(|expected| self.malformed(&file.path, expected))
    }

    /// What a file that the kernel writes at once holds, and that is read too seldom to keep it open.
    pub(super) fn read_once(&mut self, path: &str) -> Fact<&[u8]> {
        let opened = self.live.file(path)?;
        read_all(&opened, &mut self.buffer, Ends::AtShortRead)
            .map_err(|error| missing(path, error))?;
        Ok(&self.buffer)
    }

    /// What was read last.
    pub(super) fn last(&self) -> &[u8] {
        &self.buffer
    }

    /// A model-specific register of one CPU. The device is kept open as long as it answers.
    ///
    /// Errors: those of [`Source::msr`].
    pub(super) fn register(&mut self, cpu: u32, address: u32) -> Fact<u64> {
        if self.live.origin() == Origin::Live
            && !self.msr_devices.has(cpu)
            && self.n_left > 0
            && let Ok(device) = self.live.file(&live::msr_device(cpu))
        {
            self.n_left -= 1;
            self.msr_devices.keep(cpu, device);
        }
        match self.msr_devices.read(cpu, address) {
            Some(Err(missing)) if missing.why == Why::Absent => {
                // The CPU went offline. Should it be back, its device is another one.
                self.msr_devices.close(cpu);
                self.n_left += 1;
                Err(missing)
            }
            Some(read) => read,
            None => self.live.msr(cpu, address),
        }
    }

    /// What was read last makes no sense.
    pub(super) fn malformed(&self, path: &str, expected: facts::Expected) -> Missing {
        Missing::malformed(path, &String::from_utf8_lossy(&self.buffer), expected.0)
    }

    /// Sets aside descriptors that are not files'.
    ///
    /// Errors: there are not so many.
    pub(super) fn take(&mut self, n_descriptors: usize) -> Fact<()> {
        let left = self.n_left.checked_sub(n_descriptors);
        self.n_left = left.ok_or_else(|| {
            failed("descriptors for perf events", "too many open files: raise `ulimit -Hn`")
        })?;
        Ok(())
    }

    /// Gives back what was set aside.
    pub(super) fn give_back(&mut self, n_descriptors: usize) {
        self.n_left = self.n_left.saturating_add(n_descriptors);
    }

    /// Closes a file's descriptor.
    pub(super) fn forget(&mut self, file: &mut File) {
        if file.kept.take().is_some() {
            self.n_left += 1;
        }
    }

    /// Closes many.
    pub(super) fn forget_all<'a>(&mut self, files: impl IntoIterator<Item = &'a mut File>) {
        files.into_iter().for_each(|file| self.forget(file));
    }
}

fn read_all(file: &OwnedFd, buffer: &mut Vec<u8>, ends: Ends) -> Result<(), Errno> {
    buffer.clear();
    loop {
        if buffer.len() > LARGEST_FILE {
            return Err(Errno::FBIG);
        }
        if buffer.len() == buffer.capacity() {
            buffer.reserve(buffer.len());
        }
        let n_free = buffer.capacity() - buffer.len();
        let offset = buffer.len() as u64;
        match rustix::io::pread(file, rustix::buffer::spare_capacity(buffer), offset) {
            Ok(0) => return Ok(()),
            Ok(n_read) if n_read < n_free && ends == Ends::AtShortRead => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// A reason that is not about one file.
pub(super) fn failed(what: impl Into<String>, why: impl Into<String>) -> Missing {
    Missing { what: what.into(), why: Why::Failed(why.into()) }
}

/// The msr devices of CPUs whose registers are read again and again.
///
/// Devices that are kept open, by CPU.
#[derive(Debug, Default)]
pub(super) struct MsrDevices(BTreeMap<u32, OwnedFd>);

/// Reads a register of a CPU, both by number: the way to it is the caller's.
pub(super) type ReadRegister<'a> = dyn FnMut(u32, u32) -> Fact<u64> + 'a;

impl MsrDevices {
    /// Whether that of `cpu` is open.
    pub(super) fn has(&self, cpu: u32) -> bool {
        self.0.contains_key(&cpu)
    }

    /// Keeps that of `cpu` from here on.
    pub(super) fn keep(&mut self, cpu: u32, device: OwnedFd) {
        self.0.insert(cpu, device);
    }

    /// Closes that of `cpu`.
    pub(super) fn close(&mut self, cpu: u32) {
        self.0.remove(&cpu);
    }

    /// A register, where the device is open.
    pub(super) fn read(&self, cpu: u32, address: u32) -> Option<Fact<u64>> {
        self.0.get(&cpu).map(|device| read_register(device.as_fd(), cpu, address))
    }
}

/// What a machine of 8,192 CPUs needs; the kernel's own limit is four times that (fs.nr_open).
const ENOUGH_FILES: u64 = 1 << 18;

/// The limit that this process was started with.
static ORIGINAL_LIMIT: OnceLock<Rlimit> = OnceLock::new();

/// Raises the limit of open files as far as this process may, which for root is as far as it needs. Gives the limit.
///
/// A large machine has about ten thousand files to keep open. The usual soft limit is 1,024 because of programs that
/// use select(2); this program does not, but a command that it starts may ([`with_original_limit`]).
pub fn raise_open_files() -> usize {
    let limit = ORIGINAL_LIMIT.get_or_init(|| getrlimit(Resource::Nofile));
    let enough = limit.maximum.map(|it| it.max(ENOUGH_FILES));
    for raised in [enough, limit.maximum] {
        if setrlimit(Resource::Nofile, Rlimit { current: raised, maximum: raised }).is_ok() {
            return limit_or_max(raised);
        }
    }
    limit_or_max(limit.current)
}

/// Does `work`, the start of another program, with the limit that this process was started with.
pub fn with_original_limit<T>(work: impl FnOnce() -> T) -> T {
    let Some(original) = ORIGINAL_LIMIT.get() else { return work() };
    let raised = getrlimit(Resource::Nofile);
    let lowered = setrlimit(Resource::Nofile, *original).is_ok();
    let done = work();
    if lowered && setrlimit(Resource::Nofile, raised).is_err() {
        // Only who may raise the hard limit could have raised it before, but the right may be gone.
        raise_open_files();
    }
    done
}

/// `None` is no limit.
fn limit_or_max(limit: Option<u64>) -> usize {
    limit.map_or(usize::MAX, |it| usize::try_from(it).unwrap_or(usize::MAX))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay out files")]
mod tests {
    use super::*;

    fn files_with(name: &str, text: &str) -> (tempfile::TempDir, Files) {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("proc")).unwrap();
        std::fs::write(root.path().join("proc").join(name), text).unwrap();
        let files = Files::of(Live::copy(root.path()).unwrap());
        (root, files)
    }

    #[test]
    fn a_file_larger_than_the_buffer_is_read_whole() {
        let text = "0123456789".repeat(50_000);
        let (_root, mut files) = files_with("a", &text);
        for mut file in [File::new("/proc/a"), File::of_lines("/proc/a")] {
            for _ in 0..2 {
                assert_eq!(files.read(&mut file).unwrap(), text.as_bytes());
            }
        }
    }

    #[test]
    fn without_descriptors_files_are_opened_each_time() {
        let (_root, mut files) = files_with("a", "1\n");
        files.n_left = 1;
        let (mut first, mut second) = (File::new("/proc/a"), File::new("/proc/a"));
        for _ in 0..2 {
            assert_eq!((files.number(&mut first), files.number(&mut second)), (Ok(1), Ok(1)));
        }
        assert!(first.kept.is_some() && second.kept.is_none());
        files.forget(&mut first);
        assert_eq!(files.n_left, 1);
    }

    #[test]
    fn what_is_not_there_has_a_reason() {
        let (_root, mut files) = files_with("a", "x\n");
        assert_eq!(files.number(&mut File::new("/proc/b")), Err(Missing::not_collected("/proc/b")));
        let malformed = files.number(&mut File::new("/proc/a")).unwrap_err();
        assert_eq!(malformed.to_string(), "/proc/a: found \"x\", expected a whole number");
    }

    #[test]
    fn another_program_gets_the_limit_from_before() {
        let before = getrlimit(Resource::Nofile);
        raise_open_files();
        let raised = getrlimit(Resource::Nofile);
        assert_eq!(
            with_original_limit(|| getrlimit(Resource::Nofile)),
            *ORIGINAL_LIMIT.get().unwrap()
        );
        assert_eq!(getrlimit(Resource::Nofile), raised);
        // Other tests of this process may have raised it first.
        assert!(before == raised || before == *ORIGINAL_LIMIT.get().unwrap());
    }
}
