//! What happens between trials: each is kept, shown, and asked whether it was the last.
#![expect(clippy::disallowed_methods, reason = "trials may take as long as the user allows")]

use super::pace::Pace;
use crate::event::{Event, Progress, Tell};
use anyhow::Result;
use lab::bench::Watcher;
use lab::failure::Failure;
use lab::record::Record;
use lab::store::{History, Journal};
use std::path::PathBuf;
use std::time::Instant;

/// Runs a trial of an arm, on the machine as that arm wants it.
pub type Around<'a> =
    dyn FnMut(usize, &mut dyn FnMut() -> Result<(), Failure>) -> Result<(), Failure> + 'a;

pub(super) struct Session<'a, 't> {
    /// Where results are kept, where they are.
    folder: Option<PathBuf>,
    journal: Option<Journal>,
    pace: Pace,
    tell: &'t mut Tell<'t>,
    began: Instant,
    around: Option<&'a mut Around<'a>>,
}

impl<'a, 't> Session<'a, 't> {
    pub(super) fn new(
        folder: Option<PathBuf>,
        pace: Pace,
        around: Option<&'a mut Around<'a>>,
        tell: &'t mut Tell<'t>,
    ) -> Session<'a, 't> {
        Session { folder, journal: None, pace, tell, began: Instant::now(), around }
    }

    /// How well the figure was wished to be known and is not.
    pub(super) fn shortfall(&self, record: &Record) -> Option<String> {
        self.pace.shortfall(record)
    }

    /// Keeps the result as a whole, and adds it to the history; its path.
    pub(super) fn finish(self, record: &Record) -> Result<Option<PathBuf>> {
        let Some(journal) = self.journal else { return Ok(None) };
        kept(journal, record, self.tell).map(Some)
    }

    /// Leaves nothing behind, where there was no trial.
    pub(super) fn discard(self) -> Result<()> {
        Ok(self.journal.map_or(Ok(()), Journal::discard)?)
    }
}

/// Ends trials whose progress cannot be shown.
pub(crate) fn unshown(error: &anyhow::Error) -> Failure {
    Failure::Unready(format!("{error:#}"))
}

/// Keeps a result as a whole, and adds it to the history; its path.
pub fn kept(journal: Journal, record: &Record, tell: &mut Tell<'_>) -> Result<PathBuf> {
    let path = journal.finish(record)?;
    if let Err(why) = History::add(record, &path) {
        tell(Event::Note(format!("{why}; the next `fullclock history` adds the result")))?;
    }
    Ok(path)
}

impl Watcher for Session<'_, '_> {
    fn surround(
        &mut self,
        arm: usize,
        trial: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match &mut self.around {
            None => trial(),
            Some(around) => around(arm, trial),
        }
    }

    fn begun(&mut self, record: &mut Record) -> Result<(), Failure> {
        self.began = Instant::now();
        if let Some(folder) = &self.folder {
            self.journal = Some(Journal::begin(folder, record)?);
        }
        Ok(())
    }

    fn tried(&mut self, record: &Record) -> Result<(), Failure> {
        let elapsed = self.began.elapsed();
        let progress = self.pace.progress(record, elapsed);
        let done = format!("{} trials of each", progress.trials);
        let progress = Progress { done, share: progress.share, elapsed };
        (self.tell)(Event::Progress(progress)).map_err(|it| unshown(&it))?;
        self.journal.as_mut().map_or(Ok(()), |it| it.add(record))
    }

    fn wants_more(&mut self, record: &Record) -> bool {
        self.pace.wants_more(record, self.began.elapsed())
    }
}
