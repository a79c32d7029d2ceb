//! What may keep a journal from being read or written when a change becomes due.

use crate::tree::Tree;
use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, Mode, OFlags, chmod, flock};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;

/// The variable that says that this process has mounts of its own.
const OWN_MOUNTS: &str = "CHANGES_OWN_MOUNTS";

/// A cause that a guard meets at its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The file system has become read-only.
    ReadOnly,
    /// The disk is full, and the journal ends near the end of a page.
    Full,
    /// A byte of the journal has changed.
    Damaged,
    /// Others can write the state folder.
    OthersWrite,
    /// The state folder has another name.
    Renamed,
    /// A process holds the lock and does not release it.
    Locked,
}

/// In the way as long as this is there.
pub(crate) struct InTheWay {
    _locked: Option<OwnedFd>,
}

impl Obstacle {
    pub(crate) const ALL: [Obstacle; 6] = [
        Obstacle::ReadOnly,
        Obstacle::Full,
        Obstacle::Damaged,
        Obstacle::OthersWrite,
        Obstacle::Renamed,
        Obstacle::Locked,
    ];

    /// Whether it can be made here; only root mounts a file system.
    pub(crate) fn is_possible(self) -> bool {
        !self.takes_mount() || std::env::var(OWN_MOUNTS).is_ok()
    }

    fn takes_mount(self) -> bool {
        matches!(self, Obstacle::ReadOnly | Obstacle::Full)
    }

    /// Prepares the state folder before anything is in it.
    pub(crate) fn prepare(self, tree: &Tree) {
        if self.takes_mount() {
            fs::create_dir(tree.state_folder()).unwrap();
            mount(&["-t", "tmpfs", "-o", "size=64k,mode=700", "none"], &tree.state_folder());
        }
    }

    /// How long a word of the command has to be, so that the journal of a plan ends near the end of a page.
    pub(crate) fn padding(self, length_without: u64) -> usize {
        const PAGE: u64 = 4096;
        /// Shorter than any line.
        const LEFT: u64 = 40;
        match self {
            Obstacle::Full => usize::try_from(PAGE - LEFT - length_without).unwrap(),
            _ => 0,
        }
    }

    pub(crate) fn put(self, tree: &Tree) -> InTheWay {
        let mut locked = None;
        match self {
            Obstacle::ReadOnly => mount(&["-o", "remount,ro"], &tree.state_folder()),
            Obstacle::Full => fill(&tree.state_folder().join("filler")),
            Obstacle::Damaged => flip_byte(&tree.journal_path()),
            Obstacle::OthersWrite => {
                chmod(tree.state_folder(), Mode::from_raw_mode(0o777)).unwrap();
            }
            Obstacle::Renamed => fs::rename(tree.state_folder(), tree.sign("elsewhere")).unwrap(),
            Obstacle::Locked => {
                let lock = tree.state_folder().join("lock");
                let file = rustix::fs::open(lock, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
                let file = file.unwrap();
                flock(&file, FlockOperation::LockExclusive).unwrap();
                locked = Some(file);
            }
        }
        InTheWay { _locked: locked }
    }

    pub(crate) fn clear(self, tree: &Tree, in_the_way: InTheWay) {
        drop(in_the_way);
        match self {
            Obstacle::ReadOnly => mount(&["-o", "remount,rw"], &tree.state_folder()),
            Obstacle::Full => fs::remove_file(tree.state_folder().join("filler")).unwrap(),
            Obstacle::Damaged => flip_byte(&tree.journal_path()),
            Obstacle::OthersWrite => chmod(tree.state_folder(), Mode::RWXU).unwrap(),
            Obstacle::Renamed => fs::rename(tree.sign("elsewhere"), tree.state_folder()).unwrap(),
            Obstacle::Locked => {}
        }
    }

    /// Leaves a tree that can be removed.
    pub(crate) fn remove(self, tree: &Tree) {
        if self.takes_mount() {
            let done = Command::new("umount").arg("-l").arg(tree.state_folder()).status().unwrap();
            assert!(done.success());
        }
    }
}

fn mount(options: &[&str], at: &Path) {
    let done = Command::new("mount").args(options).arg(at).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Takes all the room that there is.
fn fill(path: &Path) {
    let mut file = fs::File::create(path).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
}

fn flip_byte(path: &Path) {
    const PLACE: u64 = 40;
    let file = fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, PLACE).unwrap();
    file.write_all_at(&[byte[0] ^ 1], PLACE).unwrap();
}

/// Runs this program with mounts of its own, so that what it mounts is seen by no other and ends with it. `None` where that is not
/// possible, or is so already.
pub(crate) fn in_own_mounts(arguments: &[String]) -> Option<std::process::ExitStatus> {
    if std::env::var(OWN_MOUNTS).is_ok() {
        return None;
    }
    let unshare = |program: &Path| {
        let mut command = Command::new("unshare");
        command.arg("-m").arg(program).env(OWN_MOUNTS, "yes");
        command
    };
    let mounts = "mount -t tmpfs none /mnt";
    let mut attempt = unshare(Path::new("sh"));
    if !attempt.args(["-c", mounts]).output().is_ok_and(|it| it.status.success()) {
        println!("not tried: a file system that is read-only or full, which takes root");
        return None;
    }
    Some(unshare(&std::env::current_exe().unwrap()).args(arguments).status().unwrap())
}
