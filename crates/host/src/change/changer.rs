//! Begins, recovers, reverts and confirms changes, with the machine, the journal and the guard.

use super::deadline::{overdue, time_left};
use super::guard::Guard;
use super::journal::{Access, Journal, Step};
use super::undo::UndoLog;
use super::{ChangeError, Force, JournalError, Machine, Trouble};
use facts::change::{ChangeState, Overdue, Undone};
use std::path::Path;
use std::time::Duration;

/// Machine, journal and guard, with which a process changes the host. The guard is shared by changes that are made and undone in
/// turn.
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

    /// The machine whose settings are changed.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The record of every change.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Does `work` while no other process may revert or confirm, such as a trial of a study that changes nothing.
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

    /// Gives the shared guard the log of a change, so that it can undo the change without the journal. A guard that has ended is
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

impl Changer {
    /// Undoes one change, backwards: every place gets back what was recorded, unless somebody else has changed it since.
    ///
    /// Errors: it is reverted already; it is undone, but the journal cannot be written ([`ChangeError::NotRecorded`]).
    pub fn revert(&mut self, id: &str, force: Force) -> Result<Vec<Undone>, ChangeError> {
        self.journal.wake()?;
        let reverted = self.revert_one(id, force);
        self.journal.rest();
        reverted
    }

    fn revert_one(&mut self, id: &str, force: Force) -> Result<Vec<Undone>, ChangeError> {
        let Changer { machine, journal, .. } = self;
        let change = journal.change(id)?;
        let (id, state) = (change.id.clone(), change.state.clone());
        // Whether it is another boot decides what there is to undo.
        machine.boot()?;
        if state == ChangeState::Reverted {
            let why = "has been reverted already".to_owned();
            return Err(ChangeError::NotNow { id, why });
        }
        let mut log = UndoLog::of(journal, &id)?;
        if state != ChangeState::Open {
            // If this process is killed, the next start goes on. A journal that cannot be written keeps nothing from being undone.
            let _not_recorded_either =
                journal.append(Step::Reverting { change: id.clone() }, &(), true);
        }
        let undone = log.undo(machine, force);
        match log.record(journal) {
            Ok(()) => Ok(undone),
            Err(error) => Err(ChangeError::NotRecorded { id, undone, error }),
        }
    }

    /// Undoes every change that is not reverted, the latest first.
    ///
    /// Errors: those of [`Changer::revert`], of the first change that is not undone ([`ChangeError::NotUndone`]).
    pub fn revert_all(&mut self, force: Force) -> Result<Vec<Undone>, ChangeError> {
        self.revert_those(force, |_, state| Ok(*state != ChangeState::Reverted))
    }

    /// Undoes changes that a crash interrupted, and those that were not confirmed in time. Every process that writes calls it first.
    ///
    /// Errors: as of [`Changer::revert_all`].
    pub fn recover(&mut self, force: Force) -> Result<Vec<Undone>, ChangeError> {
        self.revert_those(force, |left, state| {
            Ok(match state {
                ChangeState::Open => true,
                ChangeState::Awaiting { .. } => left()? == Duration::ZERO,
                ChangeState::Kept | ChangeState::Reverted | ChangeState::PartlyReverted { .. } => {
                    false
                }
            })
        })
    }

    fn revert_those(
        &mut self,
        force: Force,
        is_chosen: impl Fn(
            &dyn Fn() -> Result<Duration, Trouble>,
            &ChangeState,
        ) -> Result<bool, Trouble>,
    ) -> Result<Vec<Undone>, ChangeError> {
        let mut ids = Vec::new();
        for change in self.journal.changes().iter().rev() {
            if is_chosen(&|| time_left(&self.machine, change), &change.state)? {
                ids.push(change.id.clone());
            }
        }
        let mut undone = Vec::new();
        let mut not_recorded = None;
        let mut failed = None;
        for id in ids {
            match self.revert(&id, force) {
                Ok(more) => undone.extend(more),
                Err(ChangeError::NotRecorded { id, undone: more, error }) => {
                    undone.extend(more);
                    not_recorded = Some((id, error));
                }
                Err(error) => {
                    failed = Some((id, Box::new(error)));
                    break;
                }
            }
        }
        // A study that opened the journal has seen to what an earlier process left.
        self.journal.rest();
        let done = match not_recorded {
            None => Ok(undone),
            Some((id, error)) => Err(ChangeError::NotRecorded { id, undone, error }),
        };
        match failed {
            None => done,
            Some((id, error)) => Err(ChangeError::NotUndone { id, error, before: Box::new(done) }),
        }
    }

    /// Confirms a change that awaits confirmation, so that it is kept.
    ///
    /// Errors: it does not await confirmation, or no longer; the journal cannot be written.
    pub fn confirm(&mut self, id: &str) -> Result<(), ChangeError> {
        let change = self.journal.change(id)?;
        let id = change.id.clone();
        let why = match &change.state {
            ChangeState::Awaiting { .. } if time_left(&self.machine, change)? > Duration::ZERO => {
                self.journal.append(Step::Kept { change: id }, &(), true)?;
                return Ok(());
            }
            ChangeState::Awaiting { .. } => match overdue(&self.machine, &self.journal, change)? {
                Some(Overdue::Undone) => "was not confirmed in time, and has been reverted already",
                Some(Overdue::Guarded) | None => {
                    "was not confirmed in time: its guard is reverting it; see `fullclock status`"
                }
                Some(Overdue::Unguarded) => {
                    "was not confirmed in time, and no guard is running: it is still in force; `fullclock revert` reverts it"
                }
            },
            ChangeState::Open => "was interrupted, and is reverted",
            ChangeState::Kept => "does not wait to be confirmed: it is kept",
            ChangeState::Reverted => "has been reverted already",
            ChangeState::PartlyReverted { .. } => {
                "has been reverted already, but for what was left alone"
            }
        };
        Err(ChangeError::NotNow { id, why: why.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Intent;
    use crate::change::tree::{STAT_INTERVAL, Tree, governor, governors, stat_interval};

    #[test]
    fn what_was_undone_before_a_change_that_cannot_be_undone_is_reported() {
        let tree = Tree::new();
        let mut changer = tree.changer();
        for group in [governors(), stat_interval()] {
            let mut change = changer.begin(Intent::default()).unwrap();
            change.confirm_without_guard(Duration::ZERO);
            change.apply(&group).unwrap();
            change.keep().unwrap();
        }
        let step = Step::Intended { change: "0001".to_owned(), group: 7 };
        changer.journal.append(step, &"no group", true).unwrap();
        let error = changer.recover(Force::No).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("change 0001 is not undone: ") && text.contains("line"), "{text}");
        let ChangeError::NotUndone { before, .. } = error else { panic!("{error:?}") };
        let undone = before.unwrap();
        assert_eq!((undone.len(), undone[0].change.as_str()), (1, "0002"));
        assert_eq!(tree.get(STAT_INTERVAL), "1\n");
        assert_eq!(tree.get(&governor(0)), "performance\n");
        assert_eq!(changer.journal.change("2").unwrap().state, ChangeState::Reverted);
    }
}
