//! A folder that stands in for a machine in tests.
#![expect(
    clippy::disallowed_methods,
    reason = "tests lay out a folder that stands in for a machine"
)]

use super::{Access, Changer, Journal, Machine};
use facts::change::{Group, Target, Write};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(super) const GOVERNORS: &str = "/sys/devices/system/cpu/cpufreq";
pub(super) const STAT_INTERVAL: &str = "/proc/sys/vm/stat_interval";

pub(super) struct Tree {
    folder: TempDir,
}

impl Tree {
    /// Four policies, a sysctl, a boot, two registers and a configuration folder.
    pub(super) fn new() -> Tree {
        let tree = Tree { folder: tempfile::tempdir().unwrap() };
        for policy in 0..4 {
            tree.set(&governor(policy), "powersave\n");
        }
        tree.set(STAT_INTERVAL, "1\n");
        tree.set("/proc/sys/kernel/random/boot_id", "first\n");
        tree.set("/etc/sysctl.d/10-theirs.conf", "# theirs\n");
        tree.set_register(0, 0x19a, 0xff14);
        tree.set_register(1, 0x19a, 0xaa14);
        tree
    }

    pub(super) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    pub(super) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(super) fn machine(&self) -> Machine {
        Machine::below(self.root(), "/bin/false")
    }

    /// Another test may be starting a process, which has every lock of this one until it begins its program.
    pub(super) fn journal(&self) -> Journal {
        Journal::open(&self.state(), Access::WriteWhenFree).unwrap()
    }

    /// What changes the machine, as soon as no other process does.
    pub(super) fn changer(&self) -> Changer {
        self.changer_of(self.machine())
    }

    pub(super) fn changer_of(&self, machine: Machine) -> Changer {
        Changer::open(machine, &self.state(), Access::WriteWhenFree).unwrap()
    }

    pub(super) fn journal_text(&self) -> Vec<u8> {
        std::fs::read(self.state().join("journal")).unwrap()
    }

    pub(super) fn set_journal_text(&self, text: &[u8]) {
        std::fs::write(self.state().join("journal"), text).unwrap();
    }

    pub(super) fn set(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(super) fn get(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path.trim_start_matches('/'))
    }

    pub(super) fn set_register(&self, cpu: u32, address: u32, value: u64) {
        let path = self.path(&format!("/dev/cpu/{cpu}/msr"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut bytes = std::fs::read(&path).unwrap_or_default();
        bytes.resize(bytes.len().max(address as usize + 8), 0);
        bytes[address as usize..][..8].copy_from_slice(&value.to_ne_bytes());
        std::fs::write(path, bytes).unwrap();
    }

    pub(super) fn register(&self, cpu: u32, address: u32) -> u64 {
        let bytes = std::fs::read(self.path(&format!("/dev/cpu/{cpu}/msr"))).unwrap();
        u64::from_ne_bytes(bytes[address as usize..][..8].try_into().unwrap())
    }

    /// Everything in it, by path.
    pub(super) fn all(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(&self.root(), &mut found);
        found
    }
}

fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            found.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
}

/// Makes files what they were when [`Tree::all`] was asked.
pub(super) fn restore(files: &BTreeMap<PathBuf, Vec<u8>>) {
    for (path, text) in files {
        std::fs::write(path, text).unwrap();
    }
}

pub(super) fn governor(policy: u32) -> String {
    format!("{GOVERNORS}/policy{policy}/scaling_governor")
}

pub(super) fn group(setting: &str, writes: Vec<Write>) -> Group {
    Group { setting: setting.to_owned(), value: "x".to_owned(), canary: false, writes }
}

/// The governor of every policy.
pub(super) fn governors() -> Group {
    let writes =
        (0..4).map(|it| Write::of(Target::control(governor(it)), "powersave", "performance"));
    group("governor", writes.collect())
}

pub(super) fn stat_interval() -> Group {
    group("stat-interval", vec![Write::of(Target::control(STAT_INTERVAL), "1", "10")])
}

/// A file that is there only with the change.
pub(super) fn drop_in() -> Group {
    let target = Target::file("/etc/sysctl.d/90-fullclock.conf");
    let mut write = Write::of(target, "", "vm.stat_interval = 10\n");
    write.from = None;
    group("persist", vec![write])
}

/// Clock modulation cleared on two CPUs.
pub(super) fn modulation() -> Group {
    let target = |cpu| Target::Register { cpu, address: 0x19a, mask: 0x1f };
    let writes =
        vec![Write::of(target(0), "0xff14", "0xff00"), Write::of(target(1), "0xaa14", "0xaa00")];
    group("clock-modulation", writes)
}
