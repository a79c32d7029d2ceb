//! What a process changes the host with.

use super::guard::Guard;
use super::journal::{Access, Journal};
use super::undo::UndoLog;
use super::{ChangeError, Intent, JournalError, Machine, Transaction, Trouble};
use std::path::Path;

/// Everything that a process changes the host with: the machine, its journal, and the guard that changes share which are made and
/// undone in turn.
#[derive(Debug)]
pub struct Changer {
    /// Of all changes that are guarded until they are over. Before the journal, so that it is told to end before the lock is
    /// released.
    guard: Option<Guard>,
    pub(super) machine: Machine,
    pub(super) journal: Journal,
}

impl Changer {
    /// Opens the journal of a state folder for changes of a machine. What an earlier process left undone is still to be undone
    /// ([`Changer::recover`]).
    ///
    /// Errors: those of [`Journal::open`].
    pub fn open(machine: Machine, folder: &Path, access: Access) -> Result<Changer, JournalError> {
        Ok(Changer { guard: None, machine, journal: Journal::open(folder, access)? })
    }

    /// What is changed.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The record of every change.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Begins a change. Nothing is written to the host; the guard, where [`Intent::guarded`] asks for one, is running when this
    /// returns.
    ///
    /// Errors: the guard cannot be started; an earlier change was interrupted, and [`Changer::recover`] has not undone it.
    pub fn begin(&mut self, intent: Intent) -> Result<Transaction<'_>, ChangeError> {
        self.journal.wake()?;
        Transaction::begin(self, intent)
    }

    /// Does something during which no other process may revert or confirm, as a trial of a study that changes nothing.
    ///
    /// Error: another process does not release the lock; nothing was done.
    pub fn locked<T>(&mut self, work: impl FnOnce() -> T) -> Result<T, JournalError> {
        self.journal.wake()?;
        let done = work();
        self.journal.rest();
        Ok(done)
    }

    /// Starts the guard of a change that is about to begin, or the one that changes share.
    ///
    /// Error: it does not start.
    pub(super) fn start_guard(&self, id: Option<&str>) -> Result<Guard, Trouble> {
        Guard::start(&self.machine, self.journal.folder(), id)
    }

    /// Has the shared guard watch the next change; it is started where none is running.
    ///
    /// Error: it does not start.
    pub(super) fn stay_guarded(&mut self, id: &str) -> Result<(), Trouble> {
        let is_guarded = self.guard.as_mut().is_some_and(|it| it.watch(id).is_ok());
        if !is_guarded {
            let mut guard = self.start_guard(None)?;
            guard.watch(id)?;
            self.guard = Some(guard);
        }
        Ok(())
    }

    /// Gives the shared guard what undoing a change takes, so that it can do that without the journal. One that has ended is
    /// replaced.
    ///
    /// Error: it does not start.
    pub(super) fn tell_guard(&mut self, id: &str) -> Result<(), Trouble> {
        let log = UndoLog::of(&self.journal, id)
            .map_err(|error| Trouble::new("the guard", error.to_string()))?;
        if self.guard.as_mut().is_some_and(|it| it.hold(&log).is_ok()) {
            return Ok(());
        }
        self.stay_guarded(id)?;
        self.guard.as_mut().map_or(Ok(()), |it| it.hold(&log))
    }

    /// Has the shared guard forget what it was given: it is undone, and that is recorded.
    pub(super) fn relieve_guard(&mut self, id: &str) {
        // One that does not answer is replaced before the next change.
        let _told = self.guard.as_mut().map(|it| it.forget(id));
    }
}
