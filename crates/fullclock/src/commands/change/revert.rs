//! `fullclock revert` and `fullclock confirm`: reverts changes, or keeps one that awaits confirmation.

use super::{StateArguments, code, refuse_other_host};
use crate::cli::Arguments;
use crate::head::head;
use crate::output;
use crate::tell::tell;
use anyhow::{Error, Result, anyhow, bail};
use clap::Args;
use engine::change::opened::opened_to_undo;
use engine::change::opened::{Reverted, in_short};
use engine::change::revert::{Which, revert};
use facts::change::ChangeState;
use host::change::Force;
use std::process::ExitCode;

/// What is to be reverted.
#[derive(Args, Debug)]
pub(crate) struct RevertArguments {
    /// The change to revert, as `fullclock status` names it [default: the latest]
    #[arg(value_name = "CHANGE", conflicts_with = "all")]
    pub(crate) change: Option<String>,
    /// Revert every change, the latest first
    #[arg(long)]
    pub(crate) all: bool,
    /// Also write what would bring a fault back, and over what somebody else has changed since
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) state: StateArguments,
}

/// What is to be kept.
#[derive(Args, Debug)]
pub(crate) struct ConfirmArguments {
    /// The change to keep [default: the one that waits for it]
    #[arg(value_name = "CHANGE")]
    pub(crate) change: Option<String>,
    #[command(flatten)]
    pub(crate) state: StateArguments,
}

pub(crate) fn run(arguments: &Arguments, options: &RevertArguments) -> Result<ExitCode> {
    refuse_other_host(arguments)?;
    let which = match &options.change {
        Some(id) => Which::Id(id),
        None if options.all => Which::All,
        None => Which::Latest,
    };
    let force = if options.force { Force::Yes } else { Force::No };
    let (reverted, stopped) = revert(&options.state.state_dir, which, force, &mut tell(arguments))?;
    print(arguments, &reverted, stopped.as_ref())?;
    let is_refused = stopped.is_some()
        || reverted.not_recorded.is_some()
        || reverted.undone.iter().any(|it| !it.fate.is_clean());
    if let Some(error) = stopped {
        output::complain(&error);
    }
    Ok(code(is_refused))
}

/// `stopped`: why not everything was reverted that the options name.
fn print(arguments: &Arguments, reverted: &Reverted, stopped: Option<&Error>) -> Result<()> {
    let Reverted { undone, not_recorded } = reverted;
    let text = if arguments.output.json {
        let error = stopped.map(|it| format!("{it:#}"));
        report::change::undone_json(
            &head(arguments),
            undone,
            not_recorded.as_deref(),
            error.as_deref(),
        )?
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

pub(crate) fn confirm(arguments: &Arguments, options: &ConfirmArguments) -> Result<ExitCode> {
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

pub(crate) const REVERT_EXAMPLES: &str = "\
Examples:
  fullclock revert          the latest change
  fullclock revert --all    as it was before the first";

pub(crate) const CONFIRM_EXAMPLES: &str = "\
Examples:
  fullclock apply --confirm-within 5m governor=performance
  fullclock confirm         keeps it";
