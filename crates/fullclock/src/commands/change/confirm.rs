//! `fullclock confirm`: keeps a change that waits for it.

use super::opened_to_undo;
use crate::cli::{Arguments, ConfirmArguments};
use crate::output;
use anyhow::{Result, bail};
use facts::change::ChangeState;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Arguments, options: &ConfirmArguments) -> Result<ExitCode> {
    let mut changer = opened_to_undo(arguments, &options.state.state_dir)?;
    let changes = changer.journal().changes();
    let mut waiting = changes.iter().filter(|it| matches!(it.state, ChangeState::Awaiting { .. }));
    let id = match (&options.change, waiting.next_back()) {
        (Some(id), _) => id.clone(),
        (None, Some(latest)) => latest.id.clone(),
        (None, None) => {
            bail!("no change waits to be confirmed; `fullclock status` shows what is applied")
        }
    };
    changer.confirm(&id)?;
    output::print(&format!("change {id} is kept; `fullclock revert {id}` takes it back\n"))?;
    Ok(ExitCode::SUCCESS)
}
