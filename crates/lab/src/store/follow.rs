//! Reading a result while it is being written, trial by trial.
#![expect(clippy::disallowed_methods, reason = "reads results where the user keeps them")]

use super::folder::files;
use super::read::{Unreadable, head, read, trials};
use super::{Entry, JOURNAL, RESULT};
use crate::record::Record;
use crate::trial::Trial;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Whoever reads a result from its first trial to its end. What waits to be read waits in the file: who reads slowly, or was
/// away, misses nothing.
pub struct Follower {
    journal: PathBuf,
    source: Source,
    /// Trials to be passed over, as they were seen before.
    n_seen: usize,
    /// Trials that were given or passed over.
    n_read: usize,
    /// When the journal last had something new.
    grew: Instant,
}

enum Source {
    Journal {
        file: File,
        /// How much of it was read: whole lines.
        length: u64,
        /// Trials of its first line.
        first: Vec<Trial>,
    },
    /// A result that is written to its end.
    Whole(Box<Record>),
    /// A result of which everything was read.
    Finished,
}

/// What is new of a result.
pub struct News {
    /// Trials that ended since; perhaps none.
    pub trials: Vec<Trial>,
    /// How it ended, once there will be no more trials.
    pub ended: Option<End>,
}

/// How a result ended.
pub enum End {
    /// The whole of it.
    Written(Box<Record>),
    /// The run ended without completing the result.
    Dead,
}

/// A journal that was silent for so long may be that of a dead run.
const SILENCE: Duration = Duration::from_secs(5);

/// As much of a journal is read at once.
const PIECE: u64 = 1 << 20;

impl Follower {
    /// Begins with the result of this id in `folder`, behind its first `n_seen` trials; and what stands in front of all trials: a
    /// record that has none.
    ///
    /// Errors: there is no such result, or it cannot be read.
    pub fn open(folder: &Path, id: &str, n_seen: usize) -> Result<(Follower, Record), Unreadable> {
        let journal = folder.join(format!("{id}.{JOURNAL}"));
        // In this order: a journal is removed only when the result is there.
        let (source, record) = match File::open(&journal) {
            Ok(mut file) => {
                let (mut record, length) = head(&journal, &mut file)?;
                let first = std::mem::take(&mut record.trials);
                (Source::Journal { file, length, first }, record)
            }
            Err(_) => {
                let whole = read(&journal.with_extension(RESULT))?;
                let record = whole.without_trials();
                (Source::Whole(Box::new(whole)), record)
            }
        };
        Ok((Follower { journal, source, n_seen, n_read: 0, grew: Instant::now() }, record))
    }

    /// What is new since it was last asked; at once, whether or not there is something.
    ///
    /// Errors: a line that is no trial.
    pub fn news(&mut self) -> Result<News, Unreadable> {
        let Source::Journal { file, length, first } = &mut self.source else {
            return Ok(self.end());
        };
        let mut new = std::mem::take(first);
        // Looked for before the last lines are read, which are there before it is.
        let result = self.journal.with_extension(RESULT);
        let is_over = result.exists() && !self.journal.exists();
        let bytes =
            lines_behind(file, *length).map_err(|why| Unreadable::io(&self.journal, why))?;
        *length = length.saturating_add(bytes.len() as u64);
        new.extend(trials(&self.journal, &bytes)?);
        if !new.is_empty() {
            self.grew = Instant::now();
            return Ok(News { trials: self.unseen(new), ended: None });
        }
        if is_over {
            self.source = Source::Whole(Box::new(read(&result)?));
            return Ok(self.end());
        }
        if self.grew.elapsed() >= SILENCE {
            self.grew = Instant::now();
            if is_free(file) {
                return Ok(News { trials: Vec::new(), ended: Some(End::Dead) });
            }
        }
        Ok(News { trials: Vec::new(), ended: None })
    }

    /// What is left of a result that is written to its end.
    fn end(&mut self) -> News {
        let whole = match std::mem::replace(&mut self.source, Source::Finished) {
            Source::Whole(whole) => whole,
            other => {
                self.source = other;
                return News { trials: Vec::new(), ended: None };
            }
        };
        let n_old = self.n_read.max(self.n_seen);
        let left = whole.trials.iter().skip(n_old).cloned().collect();
        News { trials: left, ended: Some(End::Written(whole)) }
    }

    /// Those of the trials read that were not seen before.
    fn unseen(&mut self, trials: Vec<Trial>) -> Vec<Trial> {
        let seen = self.n_seen.saturating_sub(self.n_read);
        self.n_read += trials.len();
        trials.into_iter().skip(seen).collect()
    }
}

/// The results in `folder` that are being written, the newest first: what stands in front of their trials.
pub fn running(folder: &Path) -> Vec<Entry> {
    let mut journals = files(folder, JOURNAL).unwrap_or_default();
    journals.reverse();
    let entry = |path: PathBuf| {
        let mut file = File::open(&path).ok()?;
        // A journal without a writer is of a run that died.
        let record = if is_free(&file) { None } else { Some(head(&path, &mut file).ok()?.0) };
        Some(Entry::of(&record?, path))
    };
    journals.into_iter().filter_map(entry).collect()
}

/// The whole lines after the first `length` bytes, of one piece of the file.
fn lines_behind(file: &mut File, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(length))?;
    let mut bytes = Vec::new();
    let mut limit = PIECE;
    loop {
        let n_read = file.by_ref().take(limit).read_to_end(&mut bytes)?;
        match bytes.iter().rposition(|it| *it == b'\n') {
            Some(end) => {
                bytes.truncate(end + 1);
                return Ok(bytes);
            }
            // A line longer than all before it, or one that is being written.
            None if n_read as u64 == limit => limit = limit.saturating_mul(2),
            None => return Ok(Vec::new()),
        }
    }
}

/// Whether the journal has no writer any more.
fn is_free(file: &File) -> bool {
    // Given back at once: a run that is gone on with wants it for itself.
    file.try_lock_shared().is_ok_and(|()| file.unlock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{record, trial};
    use super::super::{Journal, sweep};
    use super::*;

    fn numbers(trials: &[Trial]) -> Vec<u32> {
        trials.iter().map(|it| it.number).collect()
    }

    /// A result that is being written, with two trials.
    fn begun(folder: &Path) -> (Journal, Record) {
        let mut record = record(0);
        let mut journal = Journal::begin(folder, &mut record).unwrap();
        record.trials = (1..=2).map(trial).collect();
        journal.add(&record).unwrap();
        (journal, record)
    }

    #[test]
    fn trials_are_given_as_they_end_and_then_the_whole_result() {
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, mut written) = begun(folder.path());
        let (mut follower, head) = Follower::open(folder.path(), "x", 0).unwrap();
        assert!(head.trials.is_empty() && head.arms == written.arms);
        assert_eq!(numbers(&follower.news().unwrap().trials), [1, 2]);
        let nothing = follower.news().unwrap();
        assert!(nothing.trials.is_empty() && nothing.ended.is_none());
        written.trials.push(trial(3));
        journal.add(&written).unwrap();
        assert_eq!(numbers(&follower.news().unwrap().trials), [3]);
        // What comes between the last look and the end is not lost.
        written.trials.push(trial(4));
        journal.add(&written).unwrap();
        written.is_complete = true;
        journal.finish(&written).unwrap();
        assert_eq!(numbers(&follower.news().unwrap().trials), [4]);
        let end = follower.news().unwrap();
        assert!(end.trials.is_empty(), "{:?}", numbers(&end.trials));
        let Some(End::Written(whole)) = end.ended else { panic!("it is written") };
        assert_eq!((whole.trials.len(), whole.is_complete), (4, true));
    }

    #[test]
    fn who_was_away_goes_on_where_it_was_in_a_journal_as_in_a_result() {
        let folder = tempfile::tempdir().unwrap();
        let (journal, written) = begun(folder.path());
        let (mut follower, _) = Follower::open(folder.path(), "x", 1).unwrap();
        assert_eq!(numbers(&follower.news().unwrap().trials), [2]);
        journal.finish(&written).unwrap();
        let (mut follower, head) = Follower::open(folder.path(), "x", 1).unwrap();
        assert!(head.trials.is_empty());
        let end = follower.news().unwrap();
        assert_eq!((numbers(&end.trials), end.ended.is_some()), (vec![2], true));
    }

    #[test]
    fn half_a_line_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (journal, written) = begun(folder.path());
        drop(journal);
        let path = folder.path().join("x.trials");
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
        let (mut follower, _) = Follower::open(folder.path(), "x", 0).unwrap();
        assert_eq!(numbers(&follower.news().unwrap().trials), [1]);
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(numbers(&follower.news().unwrap().trials), [2]);
        assert_eq!(written.trials.len(), 2);
    }

    #[test]
    fn a_dead_run_is_over_once_its_journal_is_free_or_swept() {
        let folder = tempfile::tempdir().unwrap();
        let (journal, _) = begun(folder.path());
        let (mut follower, _) = Follower::open(folder.path(), "x", 0).unwrap();
        let is_over = |follower: &mut Follower| {
            follower.grew = Instant::now().checked_sub(SILENCE).unwrap();
            follower.news().unwrap().ended
        };
        assert_eq!(follower.news().unwrap().trials.len(), 2);
        assert!(is_over(&mut follower).is_none(), "its run lives");
        drop(journal);
        assert!(matches!(is_over(&mut follower), Some(End::Dead)));
        let (mut follower, _) = Follower::open(folder.path(), "x", 2).unwrap();
        sweep(folder.path());
        let seen = follower.news().unwrap();
        assert!(seen.trials.is_empty() && seen.ended.is_none());
        let ended = follower.news().unwrap().ended;
        assert!(matches!(ended, Some(End::Written(whole)) if !whole.is_complete));
    }

    #[test]
    fn what_is_no_result_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Follower::open(folder.path(), "x", 0).is_err());
        std::fs::write(folder.path().join("x.trials"), "").unwrap();
        assert!(Follower::open(folder.path(), "x", 0).is_err());
        std::fs::remove_file(folder.path().join("x.trials")).unwrap();
        drop(begun(folder.path()));
        let mut journal = std::fs::read(folder.path().join("x.trials")).unwrap();
        journal.extend(b"{}\n");
        std::fs::write(folder.path().join("x.trials"), journal).unwrap();
        assert!(Follower::open(folder.path(), "x", 0).unwrap().0.news().is_err());
    }
}
