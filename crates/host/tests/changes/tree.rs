//! A folder that stands in for a host, and processes that change it.

use facts::change::ChangeState;
use host::change::{Access, Changer, Journal, Machine};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The variable that tells a process where its host is.
pub(crate) const FOLDER: &str = "CHANGES_FOLDER";
/// The file in that folder that tells a process to make its last change, and the one by which it tells that it has.
pub(crate) const ENOUGH: &str = "enough";
pub(crate) const IN_FORCE: &str = "in-force";

/// The variable that tells a process how long a word of its command is to be.
pub(crate) const PADDING: &str = "CHANGES_PADDING";

pub(crate) struct Tree {
    folder: TempDir,
}

impl Tree {
    /// A host that holds these files.
    pub(crate) fn of(files: &BTreeMap<String, Vec<u8>>) -> Tree {
        let tree = Tree { folder: tempfile::tempdir().unwrap() };
        for (path, text) in files {
            let path = tree.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        tree
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("root").join(path.trim_start_matches('/'))
    }

    pub(crate) fn machine(&self) -> Machine {
        Machine::below(self.folder.path().join("root"), std::env::current_exe().unwrap())
    }

    pub(crate) fn changer(&self, access: Access) -> Changer {
        Changer::open(self.machine(), &self.folder.path().join("state"), access).unwrap()
    }

    pub(crate) fn journal(&self, access: Access) -> Journal {
        Journal::open(&self.folder.path().join("state"), access).unwrap()
    }

    pub(crate) fn state_folder(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(crate) fn journal_path(&self) -> PathBuf {
        self.state_folder().join("journal")
    }

    /// A file by which a process is told something, or tells it.
    pub(crate) fn sign(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Waits until a process has made its last change, which is in force.
    pub(crate) fn until_in_force(&self) {
        std::fs::write(self.folder.path().join(ENOUGH), "").unwrap();
        self.until("the last change", |it| it.folder.path().join(IN_FORCE).exists());
    }

    /// What became of the only change, if it got as far as the journal.
    pub(crate) fn state(&self) -> Option<ChangeState> {
        self.journal(Access::Read).changes().last().map(|it| it.state.clone())
    }

    /// This program in another role; killed at the fault point of that number, where there is one.
    pub(crate) fn command(&self, words: &[&str], fault: Option<u32>) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(words).env(FOLDER, self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(fault) = fault {
            command.env("FULLCLOCK_FAULT", fault.to_string());
        }
        command
    }

    pub(crate) fn run(&self, words: &[&str], fault: Option<u32>) -> ExitStatus {
        self.command(words, fault).status().unwrap()
    }

    /// Every file and folder of the host, with what it holds. Empty lines at the end of a plain file are what a process left that was
    /// killed before it cut the file.
    pub(crate) fn all(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(&self.folder.path().join("root"), &mut found);
        found.values_mut().for_each(|it| it.truncate(it.trim_ascii_end().len()));
        found
    }

    /// How many processes were told that this is their host.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let told = format!("{FOLDER}={}\0", self.folder.path().display());
        let all = std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|it| it.unwrap().file_name().into_string().ok());
        let ours = |pid: &u32| {
            let told_it = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            told_it.windows(told.len()).any(|it| it == told.as_bytes())
        };
        all.filter_map(|it| it.parse().ok()).filter(ours).collect()
    }

    /// Waits until everything is as it was.
    pub(crate) fn until_undone(&self, before: &BTreeMap<PathBuf, Vec<u8>>) {
        self.until("undoing", |it| it.all() == *before);
    }

    /// Waits until something is so. Panics where it does not come about.
    pub(crate) fn until(&self, what: &str, is_so: impl Fn(&Tree) -> bool) {
        for _ in 0..6000 {
            if is_so(self) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{what} has not come about in 60 s");
    }
}

fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.insert(path.clone(), Vec::new());
            collect(&path, found);
        } else {
            found.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
}
