//! A source that asks another for each file cached.
//!
//! What a plan knows of a host and what its settings write are the same files in part. Asked once, they also cannot
//! disagree. Files of processes are not remembered: no setting writes one, and there are thousands.

use super::Source;
use facts::ipmi::Question;
use facts::{Fact, Origin};
use std::cell::RefCell;
use std::collections::HashMap;

/// Asks `inner` for a file when it is asked for it first, and answers the same from then on; for the folders in a folder as well.
pub struct CachedSource<'a> {
    inner: &'a dyn Source,
    /// `None` where files are not remembered.
    files: Option<RefCell<HashMap<String, Fact<Vec<u8>>>>>,
    folders: RefCell<HashMap<String, Fact<Vec<String>>>>,
}

impl<'a> CachedSource<'a> {
    /// Starts with nothing asked.
    pub fn new(inner: &'a dyn Source) -> CachedSource<'a> {
        CachedSource { inner, files: Some(RefCell::default()), folders: RefCell::default() }
    }

    /// Remembers the folders in folders alone: those of control groups are walked by several readers.
    pub(crate) fn of_folders(inner: &'a dyn Source) -> CachedSource<'a> {
        CachedSource { inner, files: None, folders: RefCell::default() }
    }
}

impl Source for CachedSource<'_> {
    fn origin(&self) -> Origin {
        self.inner.origin()
    }

    fn inner(&self) -> Option<&dyn Source> {
        Some(self.inner)
    }

    fn read(&self, path: &str) -> Fact<Vec<u8>> {
        let Some(files) = self.files.as_ref().filter(|_| !is_of_process(path)) else {
            return self.inner.read(path);
        };
        if let Some(answer) = files.borrow().get(path) {
            return answer.clone();
        }
        let answer = self.inner.read(path);
        files.borrow_mut().insert(path.to_owned(), answer.clone());
        answer
    }

    fn list(&self, folder: &str) -> Fact<Vec<String>> {
        self.inner.list(folder)
    }

    fn folders(&self, folder: &str) -> Fact<Vec<String>> {
        if let Some(names) = self.folders.borrow().get(folder) {
            return names.clone();
        }
        let names = self.inner.folders(folder);
        self.folders.borrow_mut().insert(folder.to_owned(), names.clone());
        names
    }

    fn link(&self, path: &str) -> Fact<String> {
        self.inner.link(path)
    }

    fn msr(&self, cpu: u32, register: u32) -> Fact<u64> {
        self.inner.msr(cpu, register)
    }

    fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]> {
        self.inner.cpuid(leaf, subleaf)
    }

    fn controller(&self, question: &Question<Vec<u8>>) -> Fact<Vec<u8>> {
        self.inner.controller(question)
    }
}

/// Whether a path is below `/proc/PID`.
fn is_of_process(path: &str) -> bool {
    path.strip_prefix("/proc/").is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay out a copy of a host")]
mod tests {
    use super::*;
    use crate::Live;
    use facts::Missing;

    #[test]
    fn what_was_asked_once_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let sys = folder.path().join("sys");
        std::fs::create_dir_all(&sys).unwrap();
        std::fs::write(sys.join("value"), "1\n").unwrap();
        let copy = Live::copy(folder.path()).unwrap();
        let cached = CachedSource::new(&copy);
        let asked = |source: &dyn Source| (source.text("/sys/value"), source.text("/sys/other"));
        let first = asked(&cached);
        assert_eq!(first.0, Ok("1\n".to_owned()));
        assert_eq!(first.1, Err(Missing::not_collected("/sys/other")));
        std::fs::write(sys.join("value"), "2\n").unwrap();
        std::fs::write(sys.join("other"), "3\n").unwrap();
        assert_eq!(asked(&cached), first);
        assert_ne!(asked(&copy), first);
    }

    #[test]
    fn files_of_processes_are_asked_for_again() {
        let folder = tempfile::tempdir().unwrap();
        let proc = folder.path().join("proc");
        std::fs::create_dir_all(proc.join("7")).unwrap();
        std::fs::create_dir_all(proc.join("irq/7")).unwrap();
        let copy = Live::copy(folder.path()).unwrap();
        let cached: &dyn Source = &CachedSource::new(&copy);
        let read_after = |text: &str| {
            std::fs::write(proc.join("7/stat"), text).unwrap();
            std::fs::write(proc.join("irq/7/smp_affinity_list"), text).unwrap();
            ["/proc/7/stat", "/proc/irq/7/smp_affinity_list"].map(|it| cached.text(it).unwrap())
        };
        assert_eq!(read_after("1"), ["1", "1"]);
        assert_eq!(read_after("2"), ["2", "1"]);
    }
}
