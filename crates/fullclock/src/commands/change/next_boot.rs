//! What the next boot is to have: an edit of the boot line, kept until whoever made it takes it back, also by a later boot.

use super::apply::{Session, Stop};
use crate::render::change::Applied;
use anyhow::{Result, bail};
use host::change::{Changer, Force, Intent, State, Undone};
use rules::plan::Plan;

/// Makes the edits of a plan, for the command of these words.
///
/// Errors: a write failed, and all are taken back.
pub(crate) fn keep(
    session: &Session<'_>,
    changer: &mut Changer,
    plan: &Plan,
    command: Vec<String>,
) -> Result<()> {
    let mut change = changer.begin(Intent { command, ..Intent::default() })?;
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
pub(crate) fn take_back(changer: &mut Changer, command: &[String]) -> Result<Vec<Undone>> {
    let is_own = |it: &host::change::Recorded| it.command == command && it.state != State::Reverted;
    let changes = changer.journal().changes().iter();
    let mut ids: Vec<String> = changes.filter(|it| is_own(it)).map(|it| it.id.clone()).collect();
    ids.reverse();
    let mut undone = Vec::new();
    for id in ids {
        undone.extend(changer.revert(&id, Force::No)?);
    }
    Ok(undone)
}
