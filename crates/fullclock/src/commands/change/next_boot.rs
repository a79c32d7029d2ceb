//! What the next boot is to have: an edit of the boot line, kept until whoever made it takes it back, also by a later boot.

use super::apply::{Session, Stop};
use crate::render::change::Applied;
use anyhow::{Result, bail};
use host::change::{Force, Intent, Journal, Machine, State, Undone, revert};
use rules::plan::Plan;

/// Makes the edits of a plan, for the command of these words.
///
/// Errors: a write failed, and all are taken back.
pub(crate) fn keep(
    session: &Session<'_>,
    journal: &mut Journal,
    plan: &Plan,
    command: Vec<String>,
) -> Result<()> {
    let mut change = journal.begin(session.machine, Intent { command, ..Intent::default() })?;
    let mut applied = Applied::nothing(plan);
    match session.carry_out(&mut change, plan, &mut applied) {
        Ok(()) => Ok(change.keep()?),
        Err(Stop::Failed) => bail!("{}", applied.error.unwrap_or_default()),
        Err(Stop::Wanted(why)) => {
            change.undo()?;
            bail!("{why}")
        }
        Err(Stop::Broken(error)) => Err(error),
    }
}

/// Takes back every edit that the command of these words made, the latest first.
pub(crate) fn take_back(
    machine: &Machine,
    journal: &mut Journal,
    command: &[String],
) -> Result<Vec<Undone>> {
    let is_own = |it: &host::change::Recorded| it.command == command && it.state != State::Reverted;
    let mut ids: Vec<String> =
        journal.changes().iter().filter(|it| is_own(it)).map(|it| it.id.clone()).collect();
    ids.reverse();
    let mut undone = Vec::new();
    for id in ids {
        undone.extend(revert(machine, journal, &id, Force::No)?);
    }
    Ok(undone)
}
