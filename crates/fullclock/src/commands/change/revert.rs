//! `fullclock revert`: takes changes back.

use super::{code, in_short, machine, opened};
use crate::cli::{Arguments, RevertArguments};
use crate::output::{self, Style};
use crate::render;
use anyhow::{Result, bail};
use host::change::{Access, Force, Journal, Machine, Recorded, State, Undone, recover, revert};
use std::process::ExitCode;

pub(crate) fn run(arguments: &Arguments, options: &RevertArguments) -> Result<ExitCode> {
    let machine = machine(arguments)?;
    let mut journal = opened(arguments, &options.state.state_dir, Access::Write)?;
    let mut undone = recover(&machine, &mut journal, Force::No)?;
    let force = if options.force { Force::Yes } else { Force::No };
    for id in ids(&journal, options, &undone)? {
        undone.extend(revert_with_boots(&machine, &mut journal, &id, force)?);
    }
    let text = if arguments.output.json {
        render::change::undone_json(&undone)?
    } else {
        let style = Style::of_stdout(&arguments.output);
        format!(
            "{}{}\n",
            render::change::undone(&undone, arguments.audit.verbose, style),
            in_short(&undone)
        )
    };
    output::print(&text)?;
    Ok(code(undone.iter().any(|it| !it.fate.is_clean())))
}

/// What is left to be reverted, the latest first, where something had been interrupted and is undone.
fn ids(journal: &Journal, options: &RevertArguments, recovered: &[Undone]) -> Result<Vec<String>> {
    let in_force = |it: &&Recorded| it.state != State::Reverted;
    let mut ids: Vec<String> =
        journal.changes().iter().filter(in_force).map(|it| it.id.clone()).collect();
    ids.reverse();
    match &options.change {
        Some(id) => {
            let id = journal.change(id)?.id.clone();
            let is_done = recovered.iter().any(|it| it.change == id) && !ids.contains(&id);
            Ok(if is_done { Vec::new() } else { vec![id] })
        }
        None if options.all => Ok(ids),
        // What had been interrupted was the latest.
        None if !recovered.is_empty() => Ok(Vec::new()),
        None if ids.is_empty() => bail!("nothing is applied, so there is nothing to revert"),
        None => Ok(ids.into_iter().take(1).collect()),
    }
}

/// A change that was made to last was applied anew by later boots: these are taken back with it, first.
fn revert_with_boots(
    machine: &Machine,
    journal: &mut Journal,
    id: &str,
    force: Force,
) -> Result<Vec<Undone>> {
    let anew = super::lasting::command(id);
    let is_anew = |it: &&Recorded| it.command == anew && !matches!(it.state, State::Reverted);
    let mut ids: Vec<String> =
        journal.changes().iter().filter(is_anew).map(|it| it.id.clone()).collect();
    ids.reverse();
    ids.push(id.to_owned());
    let mut undone = Vec::new();
    for id in ids {
        undone.extend(revert(machine, journal, &id, force)?);
    }
    Ok(undone)
}
