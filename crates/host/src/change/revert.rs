//! Taking back recorded changes, and confirming them.

use super::deadline::{Overdue, overdue, time_left};
use super::journal::{Journal, State, Step};
use super::undo::UndoLog;
use super::{ChangeError, Force, Machine, Trouble, Undone};
use std::time::Duration;

/// Undoes one change, backwards: every place gets back what was recorded, unless somebody else has changed it since.
///
/// Errors: it is reverted already; it is undone, but the journal cannot be written ([`ChangeError::NotRecorded`]).
pub fn revert(
    machine: &Machine,
    journal: &mut Journal,
    id: &str,
    force: Force,
) -> Result<Vec<Undone>, ChangeError> {
    journal.wake()?;
    let reverted = revert_one(machine, journal, id, force);
    journal.rest();
    reverted
}

fn revert_one(
    machine: &Machine,
    journal: &mut Journal,
    id: &str,
    force: Force,
) -> Result<Vec<Undone>, ChangeError> {
    let change = journal.change(id)?;
    let (id, state) = (change.id.clone(), change.state.clone());
    // Whether it is another boot decides what there is to undo.
    machine.boot()?;
    if state == State::Reverted {
        let why = "has been reverted already".to_owned();
        return Err(ChangeError::NotNow { id, why });
    }
    let mut log = UndoLog::of(journal, &id)?;
    if state != State::Open {
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
/// Errors: those of [`revert`], of the first change that is not undone ([`ChangeError::NotUndone`]).
pub fn revert_all(
    machine: &Machine,
    journal: &mut Journal,
    force: Force,
) -> Result<Vec<Undone>, ChangeError> {
    revert_those(machine, journal, force, |_, state| Ok(*state != State::Reverted))
}

/// Undoes what a crash interrupted, and what nobody confirmed in time. Every start that writes begins with it.
///
/// Errors: as of [`revert_all`].
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
    let mut not_recorded = None;
    let mut failed = None;
    for id in ids {
        match revert(machine, journal, &id, force) {
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
    journal.rest();
    let done = match not_recorded {
        None => Ok(undone),
        Some((id, error)) => Err(ChangeError::NotRecorded { id, undone, error }),
    };
    match failed {
        None => done,
        Some((id, error)) => Err(ChangeError::NotUndone { id, error, before: Box::new(done) }),
    }
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
        State::Awaiting { .. } => match overdue(machine, journal, change)? {
            Some(Overdue::Undone) => "was not confirmed in time, and has been reverted already",
            Some(Overdue::Guarded) | None => {
                "was not confirmed in time: its guard is reverting it; see `fullclock status`"
            }
            Some(Overdue::Unguarded) => {
                "was not confirmed in time, and no guard is running: it is still in force; `fullclock revert` reverts it"
            }
        },
        State::Open => "was interrupted, and is reverted",
        State::Kept => "does not wait to be confirmed: it is kept",
        State::Reverted => "has been reverted already",
        State::PartlyReverted { .. } => "has been reverted already, but for what was left alone",
    };
    Err(ChangeError::NotNow { id, why: why.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Intent;
    use crate::change::tree::{STAT_INTERVAL, Tree, governor, governors, stat_interval};

    #[test]
    fn what_was_undone_before_a_change_that_cannot_be_undone_is_reported() {
        let tree = Tree::new();
        let (machine, mut journal) = (tree.machine(), tree.journal());
        for group in [governors(), stat_interval()] {
            let mut change = journal.begin(&machine, Intent::default()).unwrap();
            change.confirm_without_guard(Duration::ZERO);
            change.apply(&group).unwrap();
            change.keep().unwrap();
        }
        let step = Step::Intended { change: "0001".to_owned(), group: 7 };
        journal.append(step, &"no group", true).unwrap();
        let error = recover(&machine, &mut journal, Force::No).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("change 0001 is not undone: ") && text.contains("line"), "{text}");
        let ChangeError::NotUndone { before, .. } = error else { panic!("{error:?}") };
        let undone = before.unwrap();
        assert_eq!((undone.len(), undone[0].change.as_str()), (1, "0002"));
        assert_eq!(tree.get(STAT_INTERVAL), "1\n");
        assert_eq!(tree.get(&governor(0)), "performance\n");
        assert_eq!(journal.change("2").unwrap().state, State::Reverted);
    }
}
