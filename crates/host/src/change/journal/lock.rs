//! Locks of the state folder: flock(2) on files in it. The kernel releases the lock of a process that ends, however it ends, and
//! grants one on a file that is open for reading only: so locks work on a read-only file system.
//!
//! - `lock`: one writer at a time. Every line of the journal is appended under it.
//! - `study`: held by a study from its beginning to its end. Only reverting and confirming are possible then.
//! - `guard-ID`: held by the guard of a change that awaits confirmation, which is how others know that it runs.
//!
//! The file `lock` holds the process that locked it last, and a generation: a guard that is due and does not get the lock raises
//! it. The holder compares it before each write, so one that was stopped and is continued later writes nothing.

use super::folder::{Folder, io};
use crate::change::JournalError;
use crate::change::process::is_stopped;
use crate::clock::since_boot;
use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;
use std::path::PathBuf;
use std::time::Duration;

const WRITER: &str = "lock";
const STUDY: &str = "study";

/// A process of ours holds the lock for milliseconds where it only undoes or confirms; one that was stopped never releases it.
/// A guard that is due waits so long before it acts without the lock.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Longer than a guard keeps writers out for a look at the journal.
pub(super) const LOOK: Duration = Duration::from_millis(500);

const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(10);

/// How long a lock is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    For(Duration),
    Forever,
}

impl Wait {
    pub(super) const NO: Wait = Wait::For(Duration::ZERO);
}

/// A locked file. It is released when this is dropped.
#[derive(Debug)]
pub(in crate::change) struct Lock {
    file: OwnedFd,
    path: PathBuf,
    folder: PathBuf,
    generation: u64,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A child that another thread has just forked has the file as well until it executes its program: closing it here does
        // not release the lock.
        let _released = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

impl Lock {
    /// Of a file that is locked. Files other than the writer's have generation 0.
    fn of(folder: &Folder, name: &str, file: OwnedFd) -> Lock {
        let (path, generation) = (folder.path.join(name), generation(&file));
        Lock { file, path, folder: folder.path.clone(), generation }
    }

    /// Whether a guard has acted without this lock since it was taken.
    pub(super) fn is_current(&self) -> Result<(), JournalError> {
        if generation(&self.file) == self.generation {
            return Ok(());
        }
        Err(JournalError::Overridden { folder: self.folder.clone() })
    }

    /// Whether the host may be written: no guard has acted, and the state folder can still be written, so that a guard which
    /// acts could have said so. A disk that fails makes a file system read-only at any time (errors=remount-ro, ext4(5)).
    pub(super) fn permits_writes(&self) -> Result<(), JournalError> {
        self.is_current()?;
        name_holder(&self.file).map_err(|error| io(&self.path, "written", error))
    }
}

#[cfg(test)]
impl Lock {
    /// Stands in for a file whose file system has become read-only.
    pub(super) fn replace_file(&mut self, file: OwnedFd) {
        self.file = file;
    }
}

/// Takes the writer's lock. On a read-only file system without a lock file no process can hold it: then there is none.
pub(super) fn writer(folder: &Folder, wait: Wait) -> Result<Option<Lock>, JournalError> {
    let Some(file) = open(folder, WRITER)? else { return Ok(None) };
    if !flock(folder, WRITER, &file, Kind::Exclusive, wait)? {
        let (folder_path, holder) = (folder.path.clone(), holder(&file));
        return Err(match is_reserved(folder)? {
            true => JournalError::InTrial { folder: folder_path, holder },
            false => JournalError::Locked { folder: folder_path, holder },
        });
    }
    // Where it cannot be written, the holder is unknown to others.
    let _named = name_holder(&file);
    Ok(Some(Lock::of(folder, WRITER, file)))
}

/// Tells the holder of the writer's lock that a guard acts without it.
pub(in crate::change) fn override_holder(folder: &Folder) -> Result<(), JournalError> {
    let file = folder.open_file(WRITER, OFlags::RDWR)?;
    let raised = format!("{:<20}\n", generation(&file).wrapping_add(1));
    rustix::io::pwrite(&file, raised.as_bytes(), GENERATION_AT)
        .map(|_| ())
        .map_err(|error| io(&folder.path.join(WRITER), "written", error))
}

/// Looks at the journal while no process writes it. `None` where one holds the writer's lock.
pub(in crate::change) fn while_unlocked<T>(
    folder: &Folder,
    look: impl FnOnce() -> T,
) -> Result<Option<T>, JournalError> {
    let Some(file) = existing(folder, WRITER)? else { return Ok(Some(look())) };
    if !flock(folder, WRITER, &file, Kind::Shared, Wait::NO)? {
        return Ok(None);
    }
    let _lock = Lock::of(folder, WRITER, file);
    Ok(Some(look()))
}

/// Reserves the host for a study.
pub(super) fn reserve(folder: &Folder) -> Result<Lock, JournalError> {
    let file = folder.open_file(STUDY, OFlags::RDWR | OFlags::CREATE)?;
    // Longer than another process takes to look whether it is reserved.
    let wait = Wait::For(Duration::from_secs(1));
    if !flock(folder, STUDY, &file, Kind::Exclusive, wait)? {
        return Err(JournalError::Reserved { folder: folder.path.clone(), holder: holder(&file) });
    }
    let _named = name_holder(&file);
    Ok(Lock::of(folder, STUDY, file))
}

/// Error: a study has reserved the host, and has not ended within `wait`.
pub(super) fn refuse_reserved(folder: &Folder, wait: Wait) -> Result<(), JournalError> {
    let Some(file) = existing(folder, STUDY)? else { return Ok(()) };
    match flock(folder, STUDY, &file, Kind::Shared, wait)? {
        true => Ok(()),
        false => Err(JournalError::Reserved { folder: folder.path.clone(), holder: holder(&file) }),
    }
}

fn is_reserved(folder: &Folder) -> Result<bool, JournalError> {
    match refuse_reserved(folder, Wait::NO) {
        Ok(()) => Ok(false),
        Err(JournalError::Reserved { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Marks the guard of a change as running, as long as the lock is there.
pub(in crate::change) fn mark_guard(folder: &Folder, id: &str) -> Result<Lock, JournalError> {
    let name = guard_name(id);
    drop(folder.open_file(&name, OFlags::RDWR | OFlags::CREATE)?);
    // A file that is open for writing would keep its file system from being made read-only.
    let file = folder.open_file(&name, OFlags::RDONLY)?;
    if flock(folder, &name, &file, Kind::Exclusive, Wait::For(PATIENCE))? {
        return Ok(Lock::of(folder, &name, file));
    }
    Err(JournalError::Locked { folder: folder.path.clone(), holder: "another guard".to_owned() })
}

/// Whether the guard of a change that awaits confirmation runs.
pub(super) fn is_guarded(folder: &Folder, id: &str) -> Result<bool, JournalError> {
    let name = guard_name(id);
    let Some(file) = existing(folder, &name)? else { return Ok(false) };
    flock(folder, &name, &file, Kind::Shared, Wait::NO).map(|is_free| !is_free)
}

pub(super) fn guard_name(id: &str) -> String {
    format!("guard-{id}")
}

/// A file to lock; opened for reading only where it cannot be written. `None` where a read-only file system has none.
fn open(folder: &Folder, name: &str) -> Result<Option<OwnedFd>, JournalError> {
    match folder.open_file(name, OFlags::RDWR | OFlags::CREATE) {
        Err(error @ JournalError::Io { .. }) => match existing(folder, name)? {
            None if !folder.is_read_only() => Err(error),
            found => Ok(found),
        },
        answer => answer.map(Some),
    }
}

fn existing(folder: &Folder, name: &str) -> Result<Option<OwnedFd>, JournalError> {
    if folder.has(name) { folder.open_file(name, OFlags::RDONLY).map(Some) } else { Ok(None) }
}

#[derive(Clone, Copy)]
enum Kind {
    Shared,
    Exclusive,
}

/// Whether the lock on a file of the folder was taken.
fn flock(
    folder: &Folder,
    name: &str,
    file: &OwnedFd,
    kind: Kind,
    wait: Wait,
) -> Result<bool, JournalError> {
    let operation = match (kind, wait) {
        (Kind::Shared, Wait::Forever) => FlockOperation::LockShared,
        (Kind::Shared, Wait::For(_)) => FlockOperation::NonBlockingLockShared,
        (Kind::Exclusive, Wait::Forever) => FlockOperation::LockExclusive,
        (Kind::Exclusive, Wait::For(_)) => FlockOperation::NonBlockingLockExclusive,
    };
    let began = since_boot();
    loop {
        match (rustix::fs::flock(file, operation), wait) {
            (Ok(()), _) => return Ok(true),
            (Err(Errno::INTR), _) => {}
            (Err(Errno::WOULDBLOCK), Wait::For(time)) if since_boot() >= began + time => {
                return Ok(false);
            }
            (Err(Errno::WOULDBLOCK), _) => std::thread::sleep(BETWEEN_ATTEMPTS),
            (Err(error), _) => return Err(io(&folder.path.join(name), "locked", error)),
        }
    }
}

/// Where the generation is in the file: after the process and the end of its line.
const GENERATION_AT: u64 = 11;

/// A file that an earlier version wrote has no generation.
fn generation(file: &OwnedFd) -> u64 {
    let mut text = [0; 20];
    let n = rustix::io::pread(file, &mut text, GENERATION_AT).unwrap_or(0);
    String::from_utf8_lossy(text.get(..n).unwrap_or_default()).trim().parse().unwrap_or(0)
}

/// Of one length, so that it replaces what was there.
fn name_holder(file: &OwnedFd) -> Result<(), Errno> {
    let this = format!("{:<10}\n", rustix::process::getpid().as_raw_pid());
    rustix::io::pwrite(file, this.as_bytes(), 0).map(|_| ())
}

fn holder(file: &OwnedFd) -> String {
    let mut text = [0; GENERATION_AT as usize];
    let n = rustix::io::pread(file, &mut text, 0).unwrap_or(0);
    let text = String::from_utf8_lossy(text.get(..n).unwrap_or_default()).trim().to_owned();
    match text.parse::<u32>() {
        Ok(pid) if is_stopped(pid) => {
            format!("process {pid}, which is stopped (`kill -CONT {pid}` continues it),")
        }
        Ok(pid) => format!("process {pid}"),
        Err(_) => "another process".to_owned(),
    }
}
