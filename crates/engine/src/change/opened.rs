//! This machine and its journal, opened for a change or for undoing one.

use super::reverted::{Reverted, in_short};
use crate::{Event, Tell};
use anyhow::{Context, Result, bail};
use facts::change::{ChangeState, RevertOutcome, Undone};
use host::change::{Access, Changer, Force, Journal, JournalError, Machine};
use std::path::{Path, PathBuf};

/// The program that is running, for the processes that it starts to hold or guard something.
pub fn program() -> Result<PathBuf> {
    std::env::current_exe().context("cannot tell where this program is")
}

/// Whether this process may change the machine.
///
/// Error: it is not root's.
pub fn may_change() -> Result<()> {
    if !host::ownership::is_root() {
        bail!("changing a machine takes root: run it with sudo");
    }
    Ok(())
}

/// This machine and its journal, and what was met on opening that as notes.
///
/// Errors: the machine may not be changed; the journal cannot be opened.
fn opened(folder: &Path, access: Access, tell: &mut Tell<'_>) -> Result<Changer> {
    may_change()?;
    let changer = Changer::open(Machine::this(program()?), folder, access)?;
    for note in changer.journal().notes() {
        tell(Event::Note(note.clone()))?;
    }
    Ok(changer)
}

/// The same for reverting or confirming, which are allowed between the trials of a study.
pub fn opened_to_undo(folder: &Path, tell: &mut Tell<'_>) -> Result<Changer> {
    match opened(folder, Access::Revert, tell) {
        Err(error) if matches!(error.downcast_ref(), Some(JournalError::InTrial { .. })) => {
            tell(Event::Note(format!("{error} (Ctrl-C ends waiting)")))?;
            opened(folder, Access::RevertWhenFree, tell)
        }
        answer => answer,
    }
}

/// Refuses trials while a change awaits confirmation: they would be run with it and, after its deadline, without it.
pub fn refuse_awaiting(journal: &Journal, what: &str) -> Result<()> {
    let is_awaiting = |it: &ChangeState| matches!(it, ChangeState::Awaiting { .. });
    match journal.changes().iter().find(|it| is_awaiting(&it.state)) {
        Some(change) => {
            bail!("{what}: change {} awaits confirmation; confirm or revert it first", change.id)
        }
        None => Ok(()),
    }
}

/// The same for a change: what an interrupted one had left undone is undone first.
pub fn changer(folder: &Path, access: Access, tell: &mut Tell<'_>) -> Result<Changer> {
    let mut changer = opened(folder, access, tell)?;
    let mut reverted = Reverted::default();
    let done = reverted.add(changer.recover(Force::No));
    let Reverted { undone, not_recorded } = reverted;
    if !undone.is_empty() {
        let is_fault =
            |it: &Undone| it.fate == RevertOutcome::WrittenBack && it.target.holds_fault();
        let fault = match undone.iter().any(is_fault) {
            true => "; a fault is in force again, as it was found: `fullclock audit` names it",
            false => "",
        };
        let short = in_short(&undone);
        tell(Event::Note(format!(
            "a change had been interrupted or not confirmed; {short}{fault}"
        )))?;
    }
    // Nothing is begun on top of what could not be undone or recorded.
    done?;
    match not_recorded {
        None => Ok(changer),
        Some(why) => bail!(why),
    }
}
