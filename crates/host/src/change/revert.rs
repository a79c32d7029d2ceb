//! Taking back recorded changes, and confirming them.

use super::guard::time_left;
use super::journal::{Journal, State, Step};
use super::undo::undo;
use super::{JournalError, Machine, Trouble, Undone};
use std::time::Duration;
use thiserror::Error;

/// Whether that is written back as well which is left alone otherwise: what somebody else has changed since, and registers
/// whose bits may only be cleared, which brings a fault back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Force {
    /// They are left as they are.
    #[default]
    No,
    /// They are written back.
    Yes,
}

/// Why a change cannot be begun, reverted or confirmed.
#[derive(Debug, Error)]
pub enum ChangeError {
    /// The journal refuses.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The machine does not tell which boot it is in, or the guard does not start.
    #[error(transparent)]
    Trouble(#[from] Trouble),
    /// It is not one that this can be done to.
    #[error("change {id} {why}")]
    NotNow {
        /// Which.
        id: String,
        /// Its state, in words: `has been reverted already`.
        why: String,
    },
}

/// Undoes one change, backwards: every place gets back what was recorded, unless somebody else has changed it since.
///
/// Errors: it is reverted already; the journal cannot be written, and then either nothing was undone, or everything and only
/// the note is missing, which the next start makes up for.
pub fn revert(
    machine: &Machine,
    journal: &mut Journal,
    id: &str,
    force: Force,
) -> Result<Vec<Undone>, ChangeError> {
    let change = journal.change(id)?;
    let (id, state) = (change.id.clone(), change.state.clone());
    // Whether it is another boot decides what there is to undo.
    machine.boot()?;
    match state {
        State::Reverted => {
            let why = "has been reverted already".to_owned();
            return Err(ChangeError::NotNow { id, why });
        }
        // It says already that it has not ended.
        State::Open => {}
        State::Kept | State::Awaiting { .. } | State::PartlyReverted { .. } => {
            journal.append(Step::Reverting { change: id.clone() }, &(), true)?;
        }
    }
    match undo(machine, journal, &id, force) {
        (undone, None) => Ok(undone),
        (_, Some(error)) => Err(error.into()),
    }
}

/// Undoes every change that is not reverted, the latest first.
pub fn revert_all(
    machine: &Machine,
    journal: &mut Journal,
    force: Force,
) -> Result<Vec<Undone>, ChangeError> {
    revert_those(machine, journal, force, |_, state| Ok(*state != State::Reverted))
}

/// Undoes what a crash interrupted, and what nobody confirmed in time. Every start that writes begins with it.
pub fn recover(
    machine: &Machine,
    journal: &mut Journal,
    force: Force,
) -> Result<Vec<Undone>, ChangeError> {
    revert_those(machine, journal, force, |left, state| {
        Ok(match state {
            State::Open => true,
            State::Awaiting { .. } => left()? == Duration::ZERO,
            State::Kept | State::Reverted | State::PartlyReverted { .. } => false,
        })
    })
}

fn revert_those(
    machine: &Machine,
    journal: &mut Journal,
    force: Force,
    is_chosen: impl Fn(&dyn Fn() -> Result<Duration, Trouble>, &State) -> Result<bool, Trouble>,
) -> Result<Vec<Undone>, ChangeError> {
    let mut ids = Vec::new();
    for change in journal.changes().iter().rev() {
        if is_chosen(&|| time_left(machine, change), &change.state)? {
            ids.push(change.id.clone());
        }
    }
    let mut undone = Vec::new();
    for id in ids {
        undone.extend(revert(machine, journal, &id, force)?);
    }
    Ok(undone)
}

/// Keeps a change that is waiting to be confirmed.
pub fn confirm(machine: &Machine, journal: &mut Journal, id: &str) -> Result<(), ChangeError> {
    let change = journal.change(id)?;
    let id = change.id.clone();
    let why = match &change.state {
        State::Awaiting { .. } if time_left(machine, change)? > Duration::ZERO => {
            journal.append(Step::Kept { change: id }, &(), true)?;
            return Ok(());
        }
        State::Awaiting { .. } => {
            "was to be confirmed earlier: its time is over, and it is reverted"
        }
        State::Open => "was interrupted, and is reverted",
        State::Kept => "does not wait to be confirmed: it is kept",
        State::Reverted => "has been reverted already",
        State::PartlyReverted { .. } => "has been reverted already, but for what was left alone",
    };
    Err(ChangeError::NotNow { id, why: why.to_owned() })
}
