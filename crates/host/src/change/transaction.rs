//! One change: groups applied one after the other, kept or undone together.

use super::failure::Failure;
use super::guard::Guard;
use super::journal::Step;
use super::undo::UndoLog;
use super::{Cause, ChangeError, Changer, Force, JournalError, Machine, Trouble, fault};
use crate::clock::{since_boot, since_epoch};
use facts::change::{ChangeState, Group, Undone, WriteOutcome};
use std::time::Duration;

/// What a change is begun with.
#[derive(Clone, Debug, Default)]
pub struct Intent {
    /// The words of the command that makes it, for the journal.
    pub command: Vec<String>,
    /// What else sees to it.
    pub guarded: Guarded,
    /// Undoing it brings back the faults that it takes away, whoever undoes it: the change itself, its guard or the next start.
    /// Without it they are left away unless that is forced. For what is to be there and gone in turn, and asked for.
    pub brings_faults_back: bool,
}

/// What sees to a change whatever becomes of the process that makes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guarded {
    /// The next start, which undoes what was neither kept nor undone.
    #[default]
    No,
    /// A guard, which undoes at once what was neither kept nor undone. It stays for every further change of the same [`Changer`].
    UntilOver,
    /// A guard, which also reverts it unless it is confirmed so long after it was kept.
    UntilConfirmed(Duration),
}

/// A change that is being made. Dropped without [`Transaction::keep`], it is undone.
#[derive(Debug)]
pub struct Transaction<'a> {
    pub(super) changer: &'a mut Changer,
    pub(super) id: String,
    pub(super) n_groups: u32,
    confirm_within: Option<Duration>,
    guard: Option<Guard>,
    /// Whether the guard that changes in turn share sees to it.
    shares_guard: bool,
    pub(super) notes: Vec<String>,
    /// Whether it is kept or undone.
    is_over: bool,
}

/// What became of the writes of a group that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// In the order of the writes.
    pub fates: Vec<WriteOutcome>,
}

impl Changer {
    /// Begins a change. Nothing is written to the host; the guard, where [`Intent::guarded`] asks for one, is running when this
    /// returns.
    ///
    /// Errors: the guard cannot be started; an earlier change was interrupted, and [`Changer::recover`] has not undone it.
    pub fn begin(&mut self, intent: Intent) -> Result<Transaction<'_>, ChangeError> {
        self.journal.wake()?;
        Transaction::begin(self, intent)
    }
}

impl<'a> Transaction<'a> {
    fn begin(changer: &'a mut Changer, intent: Intent) -> Result<Transaction<'a>, ChangeError> {
        let changes = changer.journal.changes();
        if let Some(open) = changes.iter().find(|it| it.state == ChangeState::Open) {
            let why = "was interrupted, and has to be undone first: `fullclock revert --all`";
            return Err(ChangeError::NotNow { id: open.id.clone(), why: why.to_owned() });
        }
        let id = changer.journal.next_id();
        let boot = changer.machine.boot()?;
        let guard = match intent.guarded {
            Guarded::No => None,
            Guarded::UntilOver => {
                changer.stay_guarded(&id)?;
                None
            }
            Guarded::UntilConfirmed(_) => Some(changer.start_guard(Some(&id))?),
        };
        fault::point();
        let step = Step::Begun {
            change: id.clone(),
            milliseconds: milliseconds(since_epoch()),
            boot,
            command: intent.command,
            brings_faults_back: intent.brings_faults_back,
        };
        // On disk with the first group: until then nothing is written.
        changer.journal.append(step, &(), false)?;
        let confirm_within = match intent.guarded {
            Guarded::UntilConfirmed(within) => Some(within),
            Guarded::No | Guarded::UntilOver => None,
        };
        Ok(Transaction {
            changer,
            id,
            n_groups: 0,
            confirm_within,
            guard,
            shares_guard: intent.guarded == Guarded::UntilOver,
            notes: Vec::new(),
            is_over: false,
        })
    }

    /// The id of the change.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The machine whose settings are changed.
    pub fn machine(&self) -> &Machine {
        &self.changer.machine
    }

    /// What users should know of what was applied: what keeps a request could not be put out of reach of the session.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How often the journal was written through to the disk.
    pub fn n_syncs(&self) -> u64 {
        self.changer.journal.n_syncs()
    }

    /// Journals and makes the writes of a group, and reads each back.
    ///
    /// Errors: the first thing that went wrong; everything that this transaction did is undone, and it is over.
    pub fn apply(&mut self, group: &Group) -> Result<Outcome, Box<Failure>> {
        let failure = |cause, undone, journal| {
            Box::new(Failure { setting: group.setting.clone(), cause, undone, journal })
        };
        if self.is_over {
            return Err(failure(Cause::Over, Vec::new(), None));
        }
        match self.try_apply(group) {
            Ok(outcome) => Ok(outcome),
            Err(cause) => {
                let (undone, journal) = self.take_back();
                Err(failure(cause, undone, journal))
            }
        }
    }

    /// Keeps what was done; where it is to be confirmed, the time begins, and the guard has in memory what it may have to undo.
    ///
    /// Errors: it cannot be journaled, or the guard cannot read the journal, and everything is undone
    /// ([`ChangeError::NotKept`]); or it is over already.
    pub fn keep(mut self) -> Result<(), ChangeError> {
        self.still_going()?;
        if let Err(error) = self.try_keep() {
            let (undone, journal) = self.take_back();
            let (id, error) = (self.id.clone(), error.into());
            return Err(ChangeError::NotKept { id, undone, error, journal });
        }
        self.is_over = true;
        Ok(())
    }

    fn try_keep(&mut self) -> Result<(), ChangeError> {
        let change = self.id.clone();
        let step = match self.confirm_within {
            None => Step::Kept { change },
            Some(within) => Step::Awaiting {
                change,
                until_milliseconds: milliseconds(since_epoch() + within),
                deadline_milliseconds: milliseconds(since_boot() + within),
            },
        };
        self.changer.journal.append(step, &(), true)?;
        if let Some(guard) = &mut self.guard {
            guard.load(&self.id)?;
        }
        Ok(())
    }

    /// Takes back what was done.
    ///
    /// Errors: what was undone could not be journaled, which the next start does; or it is over already.
    pub fn undo(mut self) -> Result<Vec<Undone>, ChangeError> {
        self.still_going()?;
        match self.take_back() {
            (undone, None) => Ok(undone),
            (undone, Some(error)) => {
                Err(ChangeError::NotRecorded { id: self.id.clone(), undone, error })
            }
        }
    }

    /// Gives a shared guard what the journal has of this change. Its own guard loads that once the change awaits confirmation.
    pub(super) fn tell_guard(&mut self) -> Result<(), Trouble> {
        if self.shares_guard { self.changer.tell_guard(&self.id) } else { Ok(()) }
    }

    fn still_going(&self) -> Result<(), ChangeError> {
        if !self.is_over {
            return Ok(());
        }
        let why = "failed, and is undone already".to_owned();
        Err(ChangeError::NotNow { id: self.id.clone(), why })
    }

    fn take_back(&mut self) -> (Vec<Undone>, Option<JournalError>) {
        self.is_over = true;
        let Changer { machine, journal, .. } = &mut *self.changer;
        let (undone, error) = match UndoLog::of(journal, &self.id) {
            Ok(mut log) => (log.undo(machine, Force::No), log.record(journal).err()),
            Err(error) => (Vec::new(), Some(error)),
        };
        // The guard sees in the journal that there is nothing left to do.
        self.guard = None;
        if self.shares_guard && error.is_none() {
            self.changer.relieve_guard(&self.id);
        }
        (undone, error)
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // What is left is in the journal, and the next start tells of it.
            let _told_by_nobody = self.take_back();
        }
        self.changer.journal.rest();
    }
}

#[cfg(test)]
impl Transaction<'_> {
    /// Awaits a confirmation without a process that reverts where none comes.
    pub(super) fn confirm_without_guard(&mut self, within: Duration) {
        self.confirm_within = Some(within);
    }
}
