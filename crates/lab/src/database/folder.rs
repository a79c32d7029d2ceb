//! The folders of temporary servers, and their removal where the owner was killed.
//!
//! A folder has a marker file with a lock (flock(2)) that the process which made it holds for as long as it lives: the
//! kernel gives the lock back however that process ends. A later start takes the lock of each folder whose marker is
//! free, stops what runs in it, and removes it. A folder is touched only if its name, its owner and its marker say
//! that it is this user's and made here. One whose owner was killed between making it and marking it stays; it is
//! empty.
#![expect(
    clippy::disallowed_methods,
    reason = "temporary servers have files, and processes to be found in /proc"
)]

use super::programs::Account;
use crate::failure::Failure;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PREFIX: &str = "fullclock-server-";
const MARKER: &str = "made-by-fullclock";
const MARK: &[u8] = b"A temporary database server of fullclock. It is removed when its owner ends, or at the next start.\n";

/// What the programs of servers are called in /proc/PID/comm, which is cut to 15 characters. A shell or an editor that
/// somebody runs in such a folder is not among them.
const PROGRAMS: &[&str] = &[
    "postgres",
    "initdb",
    "mariadbd",
    "mysqld",
    "mariadb-install",
    "mysql_install_d",
    "one_connection",
];

/// How long a server has to end by itself.
const PATIENCE: Duration = Duration::from_secs(10);

/// The folder of one temporary server. Dropping it stops what runs in it and removes it.
pub(super) struct Folder {
    pub path: PathBuf,
    /// Held until the folder is gone.
    _lock: File,
}

impl Folder {
    /// Makes one, and in it the folders `data`, `run` and `tmp`, which belong to `account`.
    pub(super) fn make(temporary: &Path, account: Option<&Account>) -> Result<Folder, Failure> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = temporary.join(format!("{PREFIX}{}-{count}", std::process::id()));
        let refused = |what: &Path| Failure::system(format!("cannot make {}", what.display()));
        // Other accounts may pass through it, and not see what is in it.
        DirBuilder::new().mode(0o711).create(&path).map_err(refused(&path))?;
        let lock = mark(&path).inspect_err(|_| {
            let _stays = fs::remove_dir_all(&path).is_err();
        });
        let folder = Folder { _lock: lock.map_err(refused(&path.join(MARKER)))?, path };
        for name in ["data", "run", "tmp"] {
            let inner = folder.path.join(name);
            DirBuilder::new().mode(0o700).create(&inner).map_err(refused(&inner))?;
            if let Some(account) = account {
                chown(&inner, Some(account.uid), Some(account.gid)).map_err(refused(&inner))?;
            }
        }
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is tried again at the next start.
        let _stays = empty(&self.path).is_err();
    }
}

/// The marker, which has its name only once it is locked: a sweep never finds it free.
fn mark(folder: &Path) -> io::Result<File> {
    let unlocked = folder.join("unlocked");
    let mut file = File::create_new(&unlocked)?;
    file.try_lock()?;
    file.write_all(MARK)?;
    fs::rename(unlocked, folder.join(MARKER))?;
    Ok(file)
}

/// Stops the temporary servers in `temporary` whose owner is gone, and removes their folders. Gives those removed, and
/// of the others why not.
pub fn sweep(temporary: &Path) -> Vec<Result<PathBuf, Failure>> {
    let entries = fs::read_dir(temporary).into_iter().flatten().flatten();
    let named =
        entries.filter(|it| it.file_name().to_str().is_some_and(|it| it.starts_with(PREFIX)));
    named
        .filter_map(|it| abandoned(&it.path()).map(|lock| (it.path(), lock)))
        .map(removed)
        .collect()
}

fn removed((path, _lock): (PathBuf, File)) -> Result<PathBuf, Failure> {
    empty(&path).map_err(Failure::system(format!("cannot remove {}", path.display())))?;
    Ok(path)
}

/// The lock of a folder that is ours and whose owner is gone.
fn abandoned(folder: &Path) -> Option<File> {
    let own = rustix::process::geteuid().as_raw();
    let is_own =
        |it: fs::Metadata, is_kind: fn(&fs::Metadata) -> bool| is_kind(&it) && it.uid() == own;
    let marker = folder.join(MARKER);
    if !is_own(fs::symlink_metadata(folder).ok()?, fs::Metadata::is_dir)
        || !is_own(fs::symlink_metadata(&marker).ok()?, fs::Metadata::is_file)
    {
        return None;
    }
    let lock = File::open(marker).ok()?;
    lock.try_lock().ok()?;
    Some(lock)
}

/// Stops the servers that run in a folder, and removes it.
fn empty(folder: &Path) -> io::Result<()> {
    // To a PostgreSQL postmaster this is an immediate shutdown, to MariaDB a normal one.
    let deadline = Instant::now() + PATIENCE;
    for pid in running_in(folder) {
        signal(pid, Signal::QUIT);
    }
    while !running_in(folder).is_empty() {
        if Instant::now() >= deadline {
            running_in(folder).into_iter().for_each(|pid| signal(pid, Signal::KILL));
        }
        if Instant::now() >= deadline + PATIENCE {
            return Err(io::Error::other("its server does not end"));
        }
        sleep(Duration::from_millis(20));
    }
    fs::remove_dir_all(folder)
}

fn signal(pid: Pid, signal: Signal) {
    // It may have ended since.
    let _gone = kill_process(pid, signal).is_err();
}

/// The programs of servers whose working directory is in the folder: servers and all their processes live in their
/// data directory, and what makes it is started there. Zombies have no working directory.
fn running_in(folder: &Path) -> Vec<Pid> {
    let Ok(folder) = folder.canonicalize() else { return Vec::new() };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let within = processes.filter(|it| {
        let path = it.path();
        let is_in = fs::read_link(path.join("cwd")).is_ok_and(|it| it.starts_with(&folder));
        is_in && fs::read_to_string(path.join("comm")).is_ok_and(|it| PROGRAMS.contains(&it.trim()))
    });
    within.filter_map(|it| Pid::from_raw(it.file_name().to_str()?.parse().ok()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// A folder as it stands after its owner was killed, with something in it that a sleeping program called `name`
    /// runs in.
    fn orphan(temporary: &Path, name: &str) -> (PathBuf, std::process::Child) {
        let folder = Folder::make(temporary, None).unwrap();
        let program = temporary.join(name);
        // Another process copies: what this one has open for writing cannot be run as long as a child that another test has
        // just forked has it open, too (ETXTBSY, execve(2)).
        assert!(Command::new("cp").arg("/bin/sleep").arg(&program).status().unwrap().success());
        let child =
            Command::new(program).arg("60").current_dir(folder.path.join("data")).spawn().unwrap();
        let path = folder.path.clone();
        let Folder { .. } = &folder;
        let lock = folder._lock.try_clone().unwrap();
        std::mem::forget(folder);
        lock.unlock().unwrap();
        (path, child)
    }

    fn names(swept: &[Result<PathBuf, Failure>]) -> Vec<&Path> {
        swept.iter().map(|it| it.as_deref().unwrap()).collect()
    }

    #[test]
    fn a_folder_whose_owner_is_gone_is_swept_with_the_server_in_it() {
        let temporary = tempfile::tempdir().unwrap();
        let (path, mut server) = orphan(temporary.path(), "postgres");
        // It is our child here, and a zombie until it is waited for.
        let waiter = std::thread::spawn(move || server.wait().unwrap());
        assert_eq!(names(&sweep(temporary.path())), [&*path]);
        assert!(!path.exists() && !waiter.join().unwrap().success());
        assert!(sweep(temporary.path()).is_empty());
    }

    #[test]
    fn somebodys_shell_in_such_a_folder_survives() {
        let temporary = tempfile::tempdir().unwrap();
        let (path, mut shell) = orphan(temporary.path(), "editor");
        assert_eq!(names(&sweep(temporary.path())), [&*path]);
        assert_eq!(shell.try_wait().unwrap(), None);
        shell.kill().unwrap();
        shell.wait().unwrap();
    }

    #[test]
    fn a_folder_in_use_is_left_alone_until_it_is_dropped() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::make(temporary.path(), None).unwrap();
        assert!(sweep(temporary.path()).is_empty() && folder.path.join("run").is_dir());
        let path = folder.path.clone();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn folders_that_are_not_ours_are_never_touched() {
        let temporary = tempfile::tempdir().unwrap();
        let at = |name: &str| temporary.path().join(name);
        let marked = |path: PathBuf| {
            fs::create_dir(&path).unwrap();
            fs::write(path.join(MARKER), MARK).unwrap();
            path
        };
        let unnamed = marked(at("postgres"));
        let unmarked = at("fullclock-server-1-0");
        fs::create_dir(&unmarked).unwrap();
        let linked = at("fullclock-server-1-1");
        std::os::unix::fs::symlink(&unnamed, &linked).unwrap();
        let marked_by_link = at("fullclock-server-1-2");
        fs::create_dir(&marked_by_link).unwrap();
        std::os::unix::fs::symlink(unnamed.join(MARKER), marked_by_link.join(MARKER)).unwrap();
        let mut kept = vec![unnamed, unmarked, linked, marked_by_link];
        if rustix::process::geteuid().is_root() {
            let others = marked(at("fullclock-server-1-3"));
            chown(&others, Some(65534), None).unwrap();
            kept.push(others);
        }
        assert!(sweep(temporary.path()).is_empty());
        assert!(kept.iter().all(|it| it.exists()), "{kept:?}");
        assert!(sweep(&at("absent")).is_empty());
    }
}
