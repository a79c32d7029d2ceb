//! `fullclock revert` and `fullclock confirm`: reverts changes, or keeps one that awaits confirmation.

use super::controller::ControllerArguments;
use super::{StateArguments, code};
use crate::cli::Arguments;
use crate::complete;
use crate::head::head;
use crate::output;
use crate::result::{Destination, ResultArguments};
use crate::tell::tell;
use anyhow::{Error, Result, anyhow, bail};
use clap::Args;
use clap_complete::engine::ArgValueCandidates;
use engine::change::opened::opened_to_undo;
use engine::change::opened::{Reverted, in_short};
use engine::change::revert::{Which, revert};
use facts::change::{ChangeStanding, ChangeState};
use host::change::{Changer, Force, standing};
use std::process::ExitCode;

/// What is to be reverted.
#[derive(Args, Debug)]
pub(crate) struct RevertArguments {
    /// The change to revert, as `fullclock status` names it [default: the latest]
    #[arg(value_name = "CHANGE", conflicts_with = "all", add = ArgValueCandidates::new(complete::changes))]
    pub(crate) change: Option<String>,
    /// Revert every change, the latest first
    #[arg(long)]
    pub(crate) all: bool,
    /// Also revert what would bring a fault back, and values that another program has changed since
    #[arg(long)]
    pub(crate) i_know: bool,
    #[command(flatten)]
    pub(crate) controller: ControllerArguments,
    #[command(flatten)]
    pub(crate) state: StateArguments,
    #[command(flatten)]
    pub(crate) result: ResultArguments,
}

/// What is to be kept.
#[derive(Args, Debug)]
pub(crate) struct ConfirmArguments {
    /// The change to keep [default: the one that waits for it]
    #[arg(value_name = "CHANGE", add = ArgValueCandidates::new(complete::changes))]
    pub(crate) change: Option<String>,
    #[command(flatten)]
    pub(crate) state: StateArguments,
    #[command(flatten)]
    pub(crate) result: ResultArguments,
}

pub(crate) fn run(arguments: &Arguments, options: &RevertArguments) -> Result<ExitCode> {
    let which = match &options.change {
        Some(id) => Which::Id(id),
        None if options.all => Which::All,
        None => Which::Latest,
    };
    let destination = options.result.destination(&arguments.output)?;
    let force = if options.i_know { Force::Yes } else { Force::No };
    let controller = options.controller.controller(arguments)?;
    let way = controller.as_ref().map(|it| &it.way);
    let folder = &options.state.state_dir;
    let (reverted, stopped) = revert(folder, which, force, way, &mut tell(arguments))?;
    print(arguments, &destination, &reverted, stopped.as_ref())?;
    let is_refused = stopped.is_some()
        || reverted.not_recorded.is_some()
        || reverted.undone.iter().any(|it| !it.fate.is_clean());
    if let Some(error) = stopped {
        output::complain(&error);
    }
    Ok(code(is_refused))
}

/// `stopped`: why not everything was reverted that the options name.
fn print(
    arguments: &Arguments,
    destination: &Destination,
    reverted: &Reverted,
    stopped: Option<&Error>,
) -> Result<()> {
    let Reverted { undone, not_recorded } = reverted;
    destination.print(&match destination.format() {
        None => {
            let error = stopped.map(|it| format!("{it:#}"));
            let (missed, error) = (not_recorded.as_deref(), error.as_deref());
            report::change::undone_json(&head(arguments), undone, missed, error)?
        }
        Some(format) => {
            let verbose = arguments.audit.verbose;
            report::change::undone(&in_short(undone), undone, verbose).render(format)
        }
    })?;
    if let Some(why) = not_recorded {
        output::complain(&anyhow!(
            "{why}; `fullclock status` goes on to show the change until `fullclock revert` can record it"
        ));
    }
    Ok(())
}

pub(crate) fn confirm(arguments: &Arguments, options: &ConfirmArguments) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    let mut changer = opened_to_undo(&options.state.state_dir, None, &mut tell(arguments))?;
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
    destination.print(&match destination.format() {
        None => report::change::status_json(&head(arguments), &standing_of(&changer, &id)?, &[])?,
        Some(format) => report::change::confirmed(&id).render(format),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// How one change stands.
fn standing_of(changer: &Changer, id: &str) -> Result<Vec<ChangeStanding>> {
    let id = &changer.journal().change(id)?.id;
    let mut found = standing(changer.machine(), changer.journal(), true)?;
    found.retain(|it| it.recorded.id == *id);
    Ok(found)
}

pub(crate) const REVERT_EXAMPLES: &str = "\
Examples:
  fullclock revert          the latest change
  fullclock revert --all    as it was before the first
  fullclock revert 3 --redfish https://bmc7 --user ann --password-file bmc.pw";

pub(crate) const CONFIRM_EXAMPLES: &str = "\
Examples:
  fullclock apply --confirm-within 5m governor=performance
  fullclock confirm         keeps it";
