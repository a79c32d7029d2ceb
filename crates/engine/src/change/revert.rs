//! Reverts changes.

use super::opened::Reverted;
use super::opened::opened_to_undo;
use super::persist;
use crate::Tell;
use crate::redfish::Way;
use anyhow::{Error, Result, bail};
use facts::change::{ChangeState, Recorded};
use host::change::{Changer, Force, Journal};
use std::path::Path;

/// Which changes are reverted.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// The one with this id.
    Id(&'a str),
    /// Every one that is in force.
    All,
    /// What was interrupted; where there is none, the latest that is in force.
    Latest,
}

/// Reverts what was interrupted, and the changes that the user names; and the error of the first that could not be reverted. `way` leads to
/// the firmware's settings.
///
/// Error: nothing was undone, and why.
pub fn revert(
    folder: &Path,
    which: Which<'_>,
    force: Force,
    way: Option<&Way>,
    tell: &mut Tell<'_>,
) -> Result<(Reverted, Option<Error>)> {
    let mut changer = opened_to_undo(folder, way, tell)?;
    let mut reverted = Reverted::default();
    let done = reverted
        .add(changer.recover(Force::No))
        .and_then(|()| revert_those(&mut changer, which, force, &mut reverted));
    match done {
        Ok(()) => Ok((reverted, None)),
        // Nothing was undone, so there is nothing to report.
        Err(error) if reverted.undone.is_empty() && reverted.not_recorded.is_none() => Err(error),
        Err(error) => Ok((reverted, Some(error))),
    }
}

/// Reverts what the user names. Error: the first change that cannot be reverted; those before it are undone.
fn revert_those(
    changer: &mut Changer,
    which: Which<'_>,
    force: Force,
    reverted: &mut Reverted,
) -> Result<()> {
    for id in ids(changer.journal(), which, reverted)? {
        revert_with_boots(changer, &id, force, reverted)?;
    }
    Ok(())
}

/// What is left to be reverted, the latest first, where something had been interrupted and is undone.
fn ids(journal: &Journal, which: Which<'_>, recovered: &Reverted) -> Result<Vec<String>> {
    let is_undone = |id: &str| recovered.undone.iter().any(|it| it.change == id);
    // What could not be recorded is not undone a second time.
    let in_force = |it: &&Recorded| {
        it.state != ChangeState::Reverted
            && !(recovered.not_recorded.is_some() && is_undone(&it.id))
    };
    let mut ids: Vec<String> =
        journal.changes().iter().filter(in_force).map(|it| it.id.clone()).collect();
    ids.reverse();
    match which {
        Which::Id(id) => {
            let id = journal.change(id)?.id.clone();
            let is_done = is_undone(&id) && !ids.contains(&id);
            Ok(if is_done { Vec::new() } else { vec![id] })
        }
        Which::All => Ok(ids),
        // What had been interrupted was the latest.
        Which::Latest if !recovered.undone.is_empty() => Ok(Vec::new()),
        Which::Latest if ids.is_empty() => {
            bail!("nothing is applied, so there is nothing to revert")
        }
        Which::Latest => Ok(ids.into_iter().take(1).collect()),
    }
}

/// A persistent change was applied again by later boots: these changes are reverted with it, first.
fn revert_with_boots(
    changer: &mut Changer,
    id: &str,
    force: Force,
    reverted: &mut Reverted,
) -> Result<()> {
    let anew = persist::command(id);
    let is_anew = |it: &&Recorded| it.command == anew && !matches!(it.state, ChangeState::Reverted);
    let changes = changer.journal().changes().iter();
    let mut ids: Vec<String> = changes.filter(is_anew).map(|it| it.id.clone()).collect();
    ids.reverse();
    ids.push(id.to_owned());
    for id in ids {
        reverted.add(changer.revert(&id, force))?;
    }
    Ok(())
}
