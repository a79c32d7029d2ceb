//! The file of the log: made whole beforehand, written in turn, gone with its owner.
//!
//! A write is pwrite(2) and then fdatasync(2), as PostgreSQL's on Linux and InnoDB's; O_DSYNC would do the same in one call,
//! and would not tell the copy into the page cache from the way to the disk. The file is filled with zeros first: blocks that
//! were only reserved have to be marked as written with the first write to each, which is a write to the file system's journal
//! and none of a log's.
//!
//! The file is locked (flock(2)) for as long as its owner lives. Files whose lock is free are removed at the next start.
#![expect(clippy::disallowed_methods, reason = "the log is a file, written and made durable")]

use crate::durability::{NOT_DURABLE, is_in_memory};
use crate::failure::Failure;
use rustix::fs::fdatasync;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const PREFIX: &str = "fullclock-redo-";

/// Where temporary files survive a boot (hier(7)), so that it is on a disk.
const ON_DISK: &str = "/var/tmp";

pub(super) struct LogFile {
    file: File,
    path: PathBuf,
}

impl LogFile {
    /// How large it is: some seconds of a fast disk's writes.
    pub(super) const SIZE: u64 = 16 << 20;

    /// Makes one in the temporary folder, or where that is in memory, in one that is on disk.
    pub(super) fn make_somewhere(temporary: &Path) -> Result<LogFile, Failure> {
        let log = LogFile::make(temporary)?;
        if !log.is_in_memory() {
            return Ok(log);
        }
        let other = LogFile::make(Path::new(ON_DISK))?;
        if other.is_in_memory() {
            return Err(Failure::Unready(format!(
                "{} and {ON_DISK} are in memory, where nothing has to be made durable; --folder names a folder on the \
                 disk that counts",
                temporary.display()
            )));
        }
        Ok(other)
    }

    /// Makes a log file in that folder, and removes those whose owners were killed.
    pub(super) fn make(folder: &Path) -> Result<LogFile, Failure> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        sweep(folder);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{PREFIX}{}-{count}", std::process::id()));
        let shown = path.display().to_string();
        let refused = |what: &str| Failure::system(format!("cannot {what} {shown}"));
        let mut options = File::options();
        let options = options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(&path).map_err(refused("make the log"))?;
        // Removed with it from here on, also where it cannot be filled.
        let log = LogFile { file, path };
        log.file.try_lock().map_err(|it| refused("lock the log")(it.into()))?;
        log.fill().map_err(|error| unfilled(&log.path, error))?;
        Ok(log)
    }

    /// Writes blocks, and makes them durable.
    pub(super) fn write(&self, at: u64, blocks: &[u8]) -> Result<(), Failure> {
        let path = || self.path.display();
        let written = self.file.write_all_at(blocks, at);
        written.map_err(|it| Failure::system(format!("cannot write the log {}", path()))(it))?;
        fdatasync(&self.file).map_err(|it| {
            let what = format!("cannot make the log {} durable (fdatasync)", path());
            Failure::system(what)(it.into())
        })
    }

    /// All of it, as it is read back.
    pub(super) fn read(&self) -> Result<Vec<u8>, Failure> {
        let mut log = vec![0; usize::try_from(LogFile::SIZE).unwrap_or(0)];
        let what = format!("cannot read the log {}", self.path.display());
        self.file.read_exact_at(&mut log, 0).map_err(Failure::system(what))?;
        Ok(log)
    }

    /// Where it is, in words.
    pub(super) fn about(&self) -> String {
        let folder = self.path.parent().unwrap_or(&self.path).display();
        let kind = if self.is_in_memory() { format!(", {NOT_DURABLE}") } else { String::new() };
        format!("pwrite and fdatasync in {folder}{kind}")
    }

    fn is_in_memory(&self) -> bool {
        is_in_memory(&self.path)
    }

    fn fill(&self) -> io::Result<()> {
        let zeros = vec![0; 1 << 20];
        let mut left = LogFile::SIZE;
        while left > 0 {
            (&self.file).write_all(&zeros)?;
            left = left.saturating_sub(zeros.len() as u64);
        }
        self.file.sync_all()
    }
}

impl Drop for LogFile {
    fn drop(&mut self) {
        // What cannot be removed is tried again at the next start.
        let _stays = fs::remove_file(&self.path).is_err();
    }
}

fn unfilled(path: &Path, error: io::Error) -> Failure {
    let size = LogFile::SIZE >> 20;
    let what = format!("cannot make a log of {size} MiB at {}", path.display());
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Failure::Unready(format!(
            "{what}: {error}; --folder names a folder with room, on the same disk if that is the one that counts"
        )),
        _ => Failure::System { what, error },
    }
}

/// Removes the logs in a folder whose owner was killed. Only files of this user whose name and lock say so are touched.
fn sweep(folder: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_str().is_some_and(|it| it.starts_with(PREFIX));
        let is_ours = |it: fs::Metadata| it.is_file() && it.uid() == own;
        if is_named && fs::symlink_metadata(entry.path()).is_ok_and(is_ours) {
            let lock = File::open(entry.path());
            if lock.is_ok_and(|it| it.try_lock().is_ok()) {
                let _stays = fs::remove_file(entry.path()).is_err();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect()
    }

    #[test]
    fn a_log_is_gone_with_its_owner_and_one_whose_owner_was_killed_at_the_next_start() {
        let folder = tempfile::tempdir().unwrap();
        let stale = folder.path().join("fullclock-redo-1-0");
        let others = folder.path().join("fullclock-notes");
        let linked = folder.path().join("fullclock-redo-2-0");
        fs::write(&stale, "old").unwrap();
        fs::write(&others, "kept").unwrap();
        std::os::unix::fs::symlink(&others, &linked).unwrap();
        let log = LogFile::make(folder.path()).unwrap();
        assert!(!stale.exists() && others.exists() && linked.exists());
        let second = LogFile::make(folder.path()).unwrap();
        assert_eq!(names(folder.path()).len(), 4);
        drop((log, second));
        assert_eq!(names(folder.path()).len(), 2);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let failure = LogFile::make(Path::new("/absent")).err().unwrap().to_string();
        assert!(failure.starts_with("cannot make the log /absent/fullclock-redo-"), "{failure}");
    }

    #[test]
    fn a_disk_without_room_says_what_to_do() {
        let failure = unfilled(Path::new("/a/log"), io::ErrorKind::StorageFull.into()).to_string();
        assert!(
            failure.starts_with("cannot make a log of 16 MiB at /a/log: ")
                && failure.contains("--folder"),
            "{failure}"
        );
    }
}
