//! What the next boot is to have: an edit of the boot line, kept until whoever made it takes it back, also by a later boot.

use super::{Executor, Stop};
use anyhow::{Result, bail};
use facts::change::{ChangeState, Recorded, Undone};
use host::change::{Force, Guarded};
use rules::plan::Plan;

/// Makes the edits of a plan, for the command of the executor.
///
/// Errors: a write failed, and all are taken back.
pub fn keep(executor: &mut Executor<'_>, plan: &Plan) -> Result<()> {
    let mut change = executor.begin(Guarded::No, false)?;
    match change.carry_out(plan) {
        Ok(()) => Ok(change.keep()?),
        Err(Stop::Failed { error, .. }) => bail!("{error}"),
        Err(Stop::Wanted(why)) => {
            change.undo()?;
            bail!("{why}")
        }
        Err(Stop::Broken(error)) => Err(error),
    }
}

/// Takes back every edit that the executor's command made, the latest first.
pub fn take_back(executor: &mut Executor<'_>) -> Result<Vec<Undone>> {
    let command = &executor.command;
    let is_own = |it: &Recorded| it.command == *command && it.state != ChangeState::Reverted;
    let changes = executor.changer.journal().changes().iter();
    let mut ids: Vec<String> = changes.filter(|it| is_own(it)).map(|it| it.id.clone()).collect();
    ids.reverse();
    let mut undone = Vec::new();
    for id in ids {
        undone.extend(executor.changer.revert(&id, Force::No)?);
    }
    Ok(undone)
}
