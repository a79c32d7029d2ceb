//! Writing a result, trial by trial.
//!
//! Whoever writes a journal holds a lock of it (flock(2)), which the kernel gives back however the program ends: a journal
//! whose lock is free is that of a dead run.
#![expect(
    clippy::disallowed_methods,
    reason = "keeps results where the user wants them, and writes nothing else"
)]

use super::read::{kept_trials, whole_lines};
use super::{JOURNAL, MODE, RESULT, folder};
use crate::failure::Failure;
use crate::record::Record;
use crate::trial::Trial;
use host::trusted_file::{self, Access};
use serde::Serialize;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A result that is being written.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    id: String,
    file: File,
    /// How much of the file is whole lines.
    length: u64,
    n_trials: usize,
    synced: Instant,
}

/// Trials may take milliseconds, and syncing takes some too; a crash of the program loses nothing either way, and one
/// of the machine what is younger than this.
const SYNC_EVERY: Duration = Duration::from_secs(1);

impl Journal {
    /// Begins the result of `record` in `folder`, which is made where there is none. Gives the record another id where
    /// there is a result of that name.
    pub fn begin(folder: &Path, record: &mut Record) -> Result<Journal, Failure> {
        let shown = folder.display();
        host::state_folder::create(folder)
            .map_err(Failure::system(format!("cannot make the folder of results {shown}")))?;
        let what = format!("cannot keep a result in {shown}");
        let (file, id) = create(folder, &record.id).map_err(Failure::system(&*what))?;
        record.id.clone_from(&id);
        let mut journal = Journal::of(folder, id, file);
        // What is changed for the first trial is on disk before it is made, and so is what it is for.
        let kept = journal.line(record).and_then(|()| journal.file.sync_all());
        if let Err(error) = kept.and_then(|()| File::open(folder)?.sync_all()) {
            // There is nothing in it.
            journal.discard().ok();
            return Err(Failure::system(what)(error));
        }
        journal.n_trials = record.trials.len();
        Ok(journal)
    }

    /// The journal at `path` of a run that ended before it was complete, to be gone on with, and what it holds.
    ///
    /// Errors: there is none; users other than root and the caller can write it, whose commands it would run; it cannot be read;
    /// a run that lives writes it.
    pub fn resume(path: &Path) -> Result<(Journal, Record), Failure> {
        let what = format!("cannot go on with {}", path.display());
        let opened = trusted_file::open(path, Access::Append);
        let opened = opened.map_err(|why| Failure::Unready(format!("{what}: {why}")))?;
        let absent = || Failure::system(&*what)(io::ErrorKind::NotFound.into());
        let file = opened.ok_or_else(absent)?;
        // Another error means that the file system has no locks.
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(Failure::Unready(format!("{what}: a run that is not over writes it")));
        }
        let (mut record, length) =
            whole_lines(path, &file).map_err(|why| Failure::Unready(why.to_string()))?;
        let mut journal = Journal::of(path.parent().unwrap_or(path), record.id.clone(), file);
        // The line that was being written when that run ended; a machine that lost its power may have lost more of it.
        journal.length = length;
        journal.file.set_len(length).map_err(Failure::system(&*what))?;
        record.doubts.clear();
        journal.n_trials = record.trials.len();
        Ok((journal, record))
    }

    /// The journal at `path` of a run that is dead; `None` where it lives, or there is none. A journal without a line may be
    /// that of a run which is about to begin.
    pub(super) fn of_dead_run(path: &Path) -> Option<Journal> {
        if !std::fs::symlink_metadata(path).is_ok_and(|it| it.is_file() && it.len() > 0) {
            return None;
        }
        let file = File::open(path).ok()?;
        file.try_lock().ok()?;
        let id = path.file_stem()?.to_str()?.to_owned();
        Some(Journal::of(path.parent()?, id, file))
    }

    fn of(folder: &Path, id: String, file: File) -> Journal {
        let folder = folder.to_owned();
        Journal { folder, id, file, length: 0, n_trials: 0, synced: Instant::now() }
    }

    /// The folder that the result is kept in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps the trials that have been added to the record since.
    pub fn add(&mut self, record: &Record) -> Result<(), Failure> {
        for trial in record.trials.iter().skip(self.n_trials) {
            self.write(trial)?;
        }
        self.sync()
    }

    /// Keeps one more trial, which no record has to hold: a race of hours has hundreds of thousands.
    pub fn append(&mut self, trial: &Trial) -> Result<(), Failure> {
        self.write(trial)?;
        self.sync()
    }

    /// How many trials are kept.
    pub fn n_trials(&self) -> usize {
        self.n_trials
    }

    /// The trials that are kept, read back.
    ///
    /// Errors: the file cannot be read, or has been damaged.
    pub fn trials(&self) -> Result<Vec<Trial>, Failure> {
        if self.n_trials == 0 {
            return Ok(Vec::new());
        }
        kept_trials(&self.path(JOURNAL)).map_err(|why| Failure::Unready(why.to_string()))
    }

    fn write(&mut self, trial: &Trial) -> Result<(), Failure> {
        self.line(trial).map_err(self.failed())?;
        self.n_trials += 1;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Failure> {
        if self.synced.elapsed() >= SYNC_EVERY {
            self.file.sync_data().map_err(self.failed())?;
            self.synced = Instant::now();
        }
        Ok(())
    }

    /// Makes a file for a recording of that node, or of this machine, in the folder of the result; returns its path.
    pub fn recording(&self, node: Option<&str>) -> Result<(File, PathBuf), Failure> {
        let shown = self.folder.display();
        folder::create(&self.folder, &self.id, node)
            .map_err(Failure::system(format!("cannot keep a recording in {shown}")))
    }

    /// Writes the result as a whole, and removes the journal; the path of the result.
    pub fn finish(self, record: &Record) -> Result<PathBuf, Failure> {
        let (result, new) = (self.path(RESULT), self.path("json.new"));
        // Until then the journal has every trial.
        let replaced = folder::replace(&result, &new, record);
        let finished = replaced.and_then(|()| std::fs::remove_file(self.path(JOURNAL)));
        finished.map_err(self.failed())?;
        Ok(result)
    }

    /// Removes it, with its recordings: there is nothing worth keeping.
    pub fn discard(self) -> Result<(), Failure> {
        let journal = self.path(JOURNAL);
        folder::remove_result(&journal).map_err(self.failed())
    }

    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.file.write_all(&line).inspect_err(|_| {
            // Half a line in front of the next one would make both unreadable.
            self.file.set_len(self.length).ok();
        })?;
        self.length = self.length.saturating_add(line.len() as u64);
        Ok(())
    }

    pub(super) fn path(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.id))
    }

    fn failed(&self) -> impl FnOnce(io::Error) -> Failure + use<> {
        let journal = self.path(JOURNAL);
        move |error| Failure::Unkept { journal, error }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // A child that another thread has just forked holds the file, too, until it is another program: closing frees no lock.
        self.file.unlock().ok();
    }
}

fn open_new(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.write(true).mode(MODE).open(path)
}

/// A new journal with its lock, and its id.
fn create(folder: &Path, wanted: &str) -> io::Result<(File, String)> {
    /// More results of a workload within a second are a loop of the user's.
    const MOST: u32 = 1000;
    for n in 1..MOST {
        let id = if n == 1 { wanted.to_owned() } else { format!("{wanted}-{n}") };
        let path = |extension: &str| folder.join(format!("{id}.{extension}"));
        if path(RESULT).exists() {
            continue;
        }
        // Appending, so that what is cut off at the end leaves no hole.
        match open_new(OpenOptions::new().create_new(true).append(true), &path(JOURNAL)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => {
                let file = opened?;
                // This fails where the file system has no locks; no journal counts as that of a dead run there.
                file.lock().ok();
                return Ok((file, id));
            }
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{MOST} results are called {wanted}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::fixture::{record, trial};
    use crate::store::read;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn trials_that_no_record_holds_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut head = record(0);
        let mut journal = Journal::begin(folder.path(), &mut head).unwrap();
        assert_eq!(journal.trials().unwrap(), []);
        for number in 1..=3 {
            journal.append(&trial(number)).unwrap();
        }
        assert_eq!(journal.n_trials(), 3);
        assert_eq!(journal.trials().unwrap(), [trial(1), trial(2), trial(3)]);
        std::fs::write(folder.path().join("x.trials"), "{").unwrap();
        assert!(journal.trials().unwrap_err().to_string().contains("x.trials"));
    }

    #[test]
    fn a_journal_that_was_cut_anywhere_behind_its_first_line_is_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let mut whole = record(0);
        let mut journal = Journal::begin(folder.path(), &mut whole).unwrap();
        let header = std::fs::read(folder.path().join("x.trials")).unwrap().len();
        whole.trials = (1..=2).map(trial).collect();
        journal.add(&whole).unwrap();
        drop(journal);
        let path = folder.path().join("x.trials");
        let bytes = std::fs::read(&path).unwrap();
        for end in header..=bytes.len() {
            std::fs::write(&path, &bytes[..end]).unwrap();
            let (mut journal, mut found) = Journal::resume(&path).unwrap();
            found.trials.push(trial(3));
            journal.add(&found).unwrap();
            drop(journal);
            assert_eq!(read(&path).unwrap().trials, found.trials, "cut at {end}");
        }
    }

    #[test]
    fn a_journal_that_a_child_still_holds_open_is_free_when_its_run_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let mut whole = record(1);
        let journal = Journal::begin(folder.path(), &mut whole).unwrap();
        let held = journal.file.try_clone().unwrap();
        drop(journal);
        Journal::resume(&folder.path().join("x.trials")).unwrap();
        drop(held);
    }

    #[test]
    fn a_journal_that_others_could_have_written_is_not_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        drop(Journal::begin(folder.path(), &mut record(1)).unwrap());
        let path = folder.path().join("x.trials");
        std::fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        let error = Journal::resume(&path).unwrap_err().to_string();
        assert!(error.contains("others can write it (mode 666)"), "{error}");
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let error = Journal::resume(&path).unwrap_err().to_string();
        assert!(error.contains("others can write it (mode 777)"), "{error}");
    }

    #[test]
    fn a_result_is_not_written_through_a_link_of_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("precious");
        std::fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, folder.path().join("x.json.new")).unwrap();
        let mut whole = record(1);
        Journal::begin(folder.path(), &mut whole).unwrap().finish(&whole).unwrap();
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
        assert_eq!(read(&folder.path().join("x.json")).unwrap().trials.len(), 1);
    }

    #[test]
    fn a_folder_of_results_is_made_for_its_owner_alone() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("state/results");
        let _journal = Journal::begin(&folder, &mut record(0)).unwrap();
        for made in [&*folder, folder.parent().unwrap()] {
            assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn a_journal_that_a_living_run_writes_is_left_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let _living = Journal::begin(folder.path(), &mut record(0)).unwrap();
        let error = Journal::resume(&folder.path().join("x.trials")).unwrap_err().to_string();
        assert!(error.ends_with("a run that is not over writes it"), "{error}");
    }
}
