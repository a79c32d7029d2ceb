//! The history and the standing of a machine on disk, in the folder `baseline` below that of the results.
//!
//! The history only grows: a line is appended and is on disk before anything is said of it. A line that a crash cut stays as it is, and
//! the next one begins behind it.
#![expect(
    clippy::disallowed_methods,
    reason = "keeps baselines where results are kept, and writes nothing else"
)]

use super::history::History;
use crate::store::folder::replace;
use facts::baseline::Standing;
use host::state_folder::{self, Place};
use host::trusted_file::{self, Access};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The name of the history.
pub const HISTORY: &str = "history.jsonl";

/// The name of the standing.
const STANDING: &str = "standing.json";

/// The folder of both, below that of the results.
const FOLDER: &str = "baseline";

/// As results are: their owner's.
const MODE: u32 = 0o600;

/// A boot takes 2 kB at most, and a machine is not booted ten thousand times.
const LARGEST: u64 = 64 << 20;

/// Where the baselines of a machine are kept.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// Why a history cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {why}", path = path.display())]
pub struct StoreError {
    path: PathBuf,
    why: String,
}

/// The right to append, for as long as it lives: two programs would give two baselines one number.
#[derive(Debug)]
pub struct Appender {
    file: File,
    path: PathBuf,
    folder: PathBuf,
    /// What the file holds.
    pub history: History,
}

impl Store {
    /// Below this folder of results.
    pub fn below(results: &Path) -> Store {
        Store { folder: results.join(FOLDER) }
    }

    /// The file of the history.
    pub fn history_file(&self) -> PathBuf {
        self.folder.join(HISTORY)
    }

    /// The history; an empty one where there is none yet.
    ///
    /// Errors: it is no file; it cannot be read, or has more than 64 MiB.
    pub fn read(&self) -> Result<History, StoreError> {
        let path = self.history_file();
        match self.opened()? {
            Some(mut file) => read(&mut file).map_err(failed(&path)),
            None => Ok(History::default()),
        }
    }

    /// The file of the history, where there is one. What is there instead is refused at once: to open a pipe would wait for its writer.
    fn opened(&self) -> Result<Option<File>, StoreError> {
        let path = self.history_file();
        match state_folder::open(&path) {
            Ok(Place::File(file)) => Ok(Some(file)),
            Ok(Place::Nothing) => Ok(None),
            Ok(Place::Other(kind)) => Err(StoreError {
                path,
                why: format!(
                    "{kind} is in its place: move that away, and `fullclock baseline` begins anew there"
                ),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                let found = self.folder.ancestors().find(|it| it.exists() && !it.is_dir());
                let why = "it is no folder: name another one with --results, or move it away";
                let path = found.unwrap_or(&self.folder).to_owned();
                Err(StoreError { path, why: why.to_owned() })
            }
            Err(error) => Err(failed(&path)(error)),
        }
    }

    /// The history, to be appended to; makes folder and file where there are none.
    ///
    /// Errors: it cannot be written; users other than root and the caller can write it; another program appends to it.
    pub fn append(&self) -> Result<Appender, StoreError> {
        let path = self.history_file();
        drop(self.opened()?);
        state_folder::create(&self.folder).map_err(failed(&self.folder))?;
        let distrusted =
            |it: &dyn std::fmt::Display| StoreError { path: path.clone(), why: it.to_string() };
        let opened = trusted_file::open(&path, Access::Append).map_err(|it| distrusted(&it))?;
        let mut file = match opened {
            Some(file) => file,
            None => OpenOptions::new()
                .read(true)
                .append(true)
                .create_new(true)
                .mode(MODE)
                .open(&path)
                .map_err(failed(&path))?,
        };
        if let Err(std::fs::TryLockError::WouldBlock) = file.try_lock() {
            return Err(distrusted(&"another fullclock baseline is at work"));
        }
        let history = read(&mut file).map_err(failed(&path))?;
        Ok(Appender { file, path, folder: self.folder.clone(), history })
    }

    /// Writes the standing as a whole, or leaves the one before.
    ///
    /// Errors: it cannot be written.
    pub fn keep(&self, standing: &Standing) -> Result<(), StoreError> {
        let path = self.folder.join(STANDING);
        let new = self.folder.join("standing.json.new");
        replace(&path, &new, standing).map_err(failed(&path))
    }
}

impl Appender {
    /// Appends lines, each of which ends with a line feed, and returns once they are on disk.
    ///
    /// Errors: they cannot be written; the file is as before then.
    pub fn append(&mut self, lines: &[u8]) -> Result<(), StoreError> {
        let write = |file: &mut File| -> io::Result<()> {
            let length = file.seek(SeekFrom::End(0))?;
            // A line that was cut stays what it is.
            let begin: &[u8] = if ends_whole(file, length)? { b"" } else { b"\n" };
            let written = file.write_all(&[begin, lines].concat()).and_then(|()| file.sync_all());
            written.inspect_err(|_| {
                file.set_len(length).ok();
            })?;
            File::open(&self.folder)?.sync_all()
        };
        write(&mut self.file).map_err(failed(&self.path))
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        // A child that another thread has just forked holds the file, too, until it is another program.
        self.file.unlock().ok();
    }
}

/// Whether nothing is in front of the end of the file, or a line feed.
fn ends_whole(file: &mut File, length: u64) -> io::Result<bool> {
    let Some(last) = length.checked_sub(1) else { return Ok(true) };
    file.seek(SeekFrom::Start(last))?;
    let mut byte = [0];
    file.read_exact(&mut byte)?;
    Ok(byte == *b"\n")
}

fn read(file: &mut File) -> io::Result<History> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other(
            "it has more than 64 MiB, which no history of boots has: move it away, and `fullclock baseline` begins anew there",
        ));
    }
    Ok(History::parse(&bytes))
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> StoreError + use<> {
    let path = path.to_owned();
    move |error| StoreError { path, why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{history, machine, made, moment};
    use super::super::standing;
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::below(folder.path());
        (folder, store)
    }

    fn add(store: &Store, boot: u32) {
        let mut appender = store.append().unwrap();
        let lines = appender.history.add(moment(boot), &machine("2.1"), made(100.0)).unwrap();
        appender.append(&lines).unwrap();
    }

    fn numbers(store: &Store) -> Vec<u64> {
        store.read().unwrap().entries.iter().map(|it| it.record.number).collect()
    }

    #[test]
    fn what_is_appended_is_read_and_belongs_to_its_owner_alone() {
        let (_folder, store) = store();
        assert_eq!(store.read().unwrap(), History::default());
        (1..=3).for_each(|it| add(&store, it));
        assert_eq!(numbers(&store), [1, 2, 3]);
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let file = store.history_file();
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    }

    #[test]
    fn nothing_that_a_file_holds_is_ever_taken_away() {
        let (_folder, store) = store();
        add(&store, 1);
        let file = store.history_file();
        let whole = std::fs::read(&file).unwrap();
        for end in [whole.len() - 9, whole.len() - 1] {
            let cut = &whole[..end];
            std::fs::write(&file, [cut, b"\n\xff\xfe damaged\n{\"line\":"].concat()).unwrap();
            let before = std::fs::read(&file).unwrap();
            add(&store, 2);
            let after = std::fs::read(&file).unwrap();
            assert!(after.starts_with(&before) && after[before.len()] == b'\n');
            assert_eq!(store.read().unwrap().entries.last().unwrap().record.boot, "boot-2");
            assert!(store.read().unwrap().damage.len() >= 2);
        }
    }

    #[test]
    fn what_is_no_file_is_refused_at_once_and_stays() {
        let (folder, store) = store();
        let place = folder.path().join("baseline");
        let both = |words: &str| {
            let why = [store.read().unwrap_err(), store.append().map(drop).unwrap_err()];
            assert!(why.iter().all(|it| it.to_string().contains(words)), "{words}: {why:?}");
            assert!(why[0].to_string().contains("move "), "{why:?}");
        };
        std::fs::write(&place, "").unwrap();
        both("baseline: it is no folder: name another one with --results");
        std::fs::remove_file(&place).unwrap();
        std::fs::create_dir_all(store.history_file()).unwrap();
        both("history.jsonl: a folder is in its place");
        std::fs::remove_dir(store.history_file()).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let (fifo, cwd) = (rustix::fs::FileType::Fifo, rustix::fs::CWD);
        rustix::fs::mknodat(cwd, store.history_file(), fifo, mode, 0).unwrap();
        both("history.jsonl: a pipe is in its place");
        std::fs::remove_file(store.history_file()).unwrap();
        std::os::unix::fs::symlink("/dev/zero", store.history_file()).unwrap();
        both("history.jsonl: a device is in its place");
    }

    #[test]
    fn two_programs_do_not_append_at_the_same_time() {
        let (_folder, store) = store();
        let held = store.append().unwrap();
        let why = store.append().unwrap_err().to_string();
        assert!(why.contains("another fullclock baseline is at work"), "{why}");
        drop(held);
        add(&store, 1);
    }

    #[test]
    fn a_history_that_others_can_write_is_not_added_to() {
        let (_folder, store) = store();
        add(&store, 1);
        let open = std::fs::Permissions::from_mode(0o666);
        std::fs::set_permissions(store.history_file(), open).unwrap();
        assert!(store.append().unwrap_err().to_string().contains("others can write it"));
        assert_eq!(numbers(&store), [1]);
    }

    #[test]
    fn a_standing_replaces_the_one_before_and_is_not_written_through_a_link() {
        let (folder, store) = store();
        add(&store, 1);
        let precious = folder.path().join("precious");
        std::fs::write(&precious, "precious").unwrap();
        let place = |name: &str| folder.path().join("baseline").join(name);
        std::os::unix::fs::symlink(&precious, place("standing.json.new")).unwrap();
        for n in [1, 2] {
            let standing = standing(&history(&[("2.1", 100.0)].repeat(n))).unwrap();
            store.keep(&standing).unwrap();
            let read = std::fs::read_to_string(place("standing.json")).unwrap();
            assert_eq!(serde_json::from_str::<Standing>(&read).unwrap(), standing);
        }
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
        let missing = Store::below(&folder.path().join("none"));
        assert!(missing.keep(&standing(&history(&[("2.1", 1.0)])).unwrap()).is_err());
    }
}
