//! This machine and its journal, opened for a change or for undoing one, and what undoing changes did.

use crate::redfish::{Setup, Way};
use crate::{Event, Tell};
use anyhow::{Context, Result, anyhow, bail};
use facts::change::{ChangeState, RevertOutcome, Undone};
use host::change::{Access, ChangeError, Changer, Firmware, Force, Journal, JournalError, Machine};
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

/// This machine, with the way to its firmware's settings where one is given.
///
/// Errors: those of [`Setup::new`].
pub fn machine(way: Option<&Way>) -> Result<Machine> {
    let setup = way.map(Setup::new).transpose()?;
    let firmware = setup.map(|it| Box::new(it) as Box<dyn Firmware>);
    Ok(Machine::this(program()?).with_firmware(firmware))
}

/// This machine and its journal, and what was met on opening that as notes.
///
/// Errors: the machine may not be changed; the journal cannot be opened.
fn opened(
    folder: &Path,
    access: Access,
    way: Option<&Way>,
    tell: &mut Tell<'_>,
) -> Result<Changer> {
    may_change()?;
    let changer = Changer::open(machine(way)?, folder, access)?;
    for note in changer.journal().notes() {
        tell(Event::Note(note.clone()))?;
    }
    Ok(changer)
}

/// The same for reverting or confirming, which are allowed between the trials of a study.
pub fn opened_to_undo(folder: &Path, way: Option<&Way>, tell: &mut Tell<'_>) -> Result<Changer> {
    match opened(folder, Access::Revert, way, tell) {
        Err(error) if matches!(error.downcast_ref(), Some(JournalError::InTrial { .. })) => {
            tell(Event::Note(format!("{error} (Ctrl-C ends waiting)")))?;
            opened(folder, Access::RevertWhenFree, way, tell)
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
pub fn changer(
    folder: &Path,
    access: Access,
    way: Option<&Way>,
    tell: &mut Tell<'_>,
) -> Result<Changer> {
    let mut changer = opened(folder, access, way, tell)?;
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

/// What was undone, and why the journal does not say so.
#[derive(Debug, Default)]
pub struct Reverted {
    /// What undoing did, place by place.
    pub undone: Vec<Undone>,
    /// Why the journal does not record it.
    pub not_recorded: Option<String>,
}

impl Reverted {
    /// Error: why a change was not undone; what came of others before it is added.
    pub(super) fn add(&mut self, reverted: Result<Vec<Undone>, ChangeError>) -> Result<()> {
        match reverted {
            Ok(undone) => self.undone.extend(undone),
            Err(error @ ChangeError::NotRecorded { .. }) => {
                self.not_recorded = Some(error.to_string());
                if let ChangeError::NotRecorded { undone, .. } = error {
                    self.undone.extend(undone);
                }
            }
            Err(error) => {
                let why = anyhow!("{error}");
                if let ChangeError::NotUndone { before, .. } = error {
                    self.add(*before)?;
                }
                return Err(why);
            }
        }
        Ok(())
    }
}

/// In one line: "7 places are as they were, 1 is not".
pub fn in_short(undone: &[Undone]) -> String {
    let n_left = undone.iter().filter(|it| !it.fate.is_clean()).count();
    let n_clean = undone.len() - n_left;
    let places =
        |n: usize| if n == 1 { "1 place is".to_owned() } else { format!("{n} places are") };
    match (n_clean, n_left) {
        (n, 0) => format!("{} as before", places(n)),
        (0, n) => format!("{} not as before: see `fullclock status`", places(n)),
        (n, left) => format!("{} as before, {left} not: see `fullclock status`", places(n)),
    }
}
