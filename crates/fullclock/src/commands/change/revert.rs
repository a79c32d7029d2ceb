//! `fullclock revert`: takes changes back.

use super::{code, in_short, opened_to_undo};
use crate::cli::{Arguments, RevertArguments};
use crate::output::{self};
use anyhow::{Error, Result, anyhow, bail};
use facts::change::{ChangeState, Recorded, Undone};
use host::change::{ChangeError, Changer, Force, Journal};
use std::process::ExitCode;

pub(crate) fn run(arguments: &Arguments, options: &RevertArguments) -> Result<ExitCode> {
    let mut changer = opened_to_undo(arguments, &options.state.state_dir)?;
    let mut reverted = Reverted::default();
    let force = if options.force { Force::Yes } else { Force::No };
    let done = reverted
        .add(changer.recover(Force::No))
        .and_then(|()| revert_those(&mut changer, options, force, &mut reverted));
    let stopped = match done {
        Ok(()) => None,
        // Nothing was undone, so there is nothing to report.
        Err(error) if reverted.undone.is_empty() && reverted.not_recorded.is_none() => {
            return Err(error);
        }
        Err(error) => Some(error),
    };
    report(arguments, &reverted, stopped.as_ref())?;
    let is_refused = stopped.is_some()
        || reverted.not_recorded.is_some()
        || reverted.undone.iter().any(|it| !it.fate.is_clean());
    if let Some(error) = stopped {
        output::complain(&error);
    }
    Ok(code(is_refused))
}

/// Reverts what the options name. Error: the first change that cannot be reverted; those before it are undone.
fn revert_those(
    changer: &mut Changer,
    options: &RevertArguments,
    force: Force,
    reverted: &mut Reverted,
) -> Result<()> {
    for id in ids(changer.journal(), options, reverted)? {
        revert_with_boots(changer, &id, force, reverted)?;
    }
    Ok(())
}

/// `stopped`: why not everything was reverted that the options name.
fn report(arguments: &Arguments, reverted: &Reverted, stopped: Option<&Error>) -> Result<()> {
    let Reverted { undone, not_recorded } = reverted;
    let text = if arguments.output.json {
        let error = stopped.map(|it| format!("{it:#}"));
        report::change::undone_json(undone, not_recorded.as_deref(), error.as_deref())?
    } else {
        let style = output::style(arguments.output.color);
        format!(
            "{}{}\n",
            report::change::undone(undone, arguments.audit.verbose, style),
            in_short(undone)
        )
    };
    output::print(&text)?;
    if let Some(why) = not_recorded {
        output::complain(&anyhow!(
            "{why}; `fullclock status` goes on to show the change until `fullclock revert` can record it"
        ));
    }
    Ok(())
}

/// What was undone, and why the journal does not say so.
#[derive(Default)]
pub(super) struct Reverted {
    pub(super) undone: Vec<Undone>,
    pub(super) not_recorded: Option<String>,
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

/// What is left to be reverted, the latest first, where something had been interrupted and is undone.
fn ids(journal: &Journal, options: &RevertArguments, recovered: &Reverted) -> Result<Vec<String>> {
    let is_undone = |id: &str| recovered.undone.iter().any(|it| it.change == id);
    // What could not be recorded is not undone a second time.
    let in_force = |it: &&Recorded| {
        it.state != ChangeState::Reverted
            && !(recovered.not_recorded.is_some() && is_undone(&it.id))
    };
    let mut ids: Vec<String> =
        journal.changes().iter().filter(in_force).map(|it| it.id.clone()).collect();
    ids.reverse();
    match &options.change {
        Some(id) => {
            let id = journal.change(id)?.id.clone();
            let is_done = is_undone(&id) && !ids.contains(&id);
            Ok(if is_done { Vec::new() } else { vec![id] })
        }
        None if options.all => Ok(ids),
        // What had been interrupted was the latest.
        None if !recovered.undone.is_empty() => Ok(Vec::new()),
        None if ids.is_empty() => bail!("nothing is applied, so there is nothing to revert"),
        None => Ok(ids.into_iter().take(1).collect()),
    }
}

/// A change that was made to last was applied anew by later boots: these are taken back with it, first.
fn revert_with_boots(
    changer: &mut Changer,
    id: &str,
    force: Force,
    reverted: &mut Reverted,
) -> Result<()> {
    let anew = super::lasting::command(id);
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
