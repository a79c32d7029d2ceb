//! `fullclock confirm`: keeps a change that waits for it.

use super::refuse_other_host;
use crate::cli::Arguments;
use crate::commands::change::options::ConfirmArguments;
use crate::output;
use crate::tell::tell;
use anyhow::{Result, bail};
use engine::change::opened::opened_to_undo;
use facts::change::ChangeState;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Arguments, options: &ConfirmArguments) -> Result<ExitCode> {
    refuse_other_host(arguments)?;
    let mut changer = opened_to_undo(&options.state.state_dir, &mut tell(arguments))?;
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
