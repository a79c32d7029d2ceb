//! `fullclock status` and `fullclock watch-drift`: what is applied, who changed it since, and what the next boot will do.

use super::StateArguments;
use super::controller::ControllerArguments;
use crate::cli::Arguments;
use crate::head::head;
use crate::result::ResultArguments;
use crate::tell::tell;
use anyhow::Result;
use clap::Args;
use engine::change::drift;
use engine::change::opened::machine;
use facts::change::{Standing, WrittenPlace};
use facts::quantity;
use host::Live;
use host::change::{Access, Journal, standing};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Args, Debug)]
pub(crate) struct StatusArguments {
    /// Show changes that were reverted, too
    #[arg(long)]
    pub(crate) all: bool,
    /// Print only the ids of the changes, one a line, for scripts: nothing where nothing is applied
    #[arg(long, conflicts_with_all = ["json", "format"])]
    pub(crate) ids: bool,
    #[command(flatten)]
    pub(crate) controller: ControllerArguments,
    #[command(flatten)]
    pub(crate) state: StateArguments,
    #[command(flatten)]
    pub(crate) result: ResultArguments,
}

/// How to look for drift.
#[derive(Args, Debug)]
pub(crate) struct DriftArguments {
    /// How often to look
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = quantity::duration)]
    pub(crate) interval: Duration,
    /// For how long to look [default: until Ctrl-C]
    #[arg(short, long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) duration: Option<Duration>,
    #[command(flatten)]
    pub(crate) state: StateArguments,
}

pub(crate) fn run(arguments: &Arguments, options: &StatusArguments) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    let journal = Journal::open(&options.state.state_dir, Access::Read)?;
    let controller = options.controller.controller(arguments)?;
    let machine = machine(controller.as_ref().map(|it| &it.way))?;
    let shown = standing(&machine, &journal, options.all)?;
    if options.ids {
        let ids: String = shown.iter().flat_map(|it| [&*it.recorded.id, "\n"]).collect();
        destination.print(&ids)?;
        return Ok(ExitCode::SUCCESS);
    }
    let is_changed = |it: &WrittenPlace| matches!(it.standing, Standing::Changed { .. });
    let has_changed = shown.iter().flat_map(|it| &it.places).any(is_changed);
    let suspects = if has_changed { suspects() } else { Vec::new() };
    destination.print(&match destination.format() {
        None => report::change::status_json(&head(arguments), &shown, &suspects)?,
        Some(format) => {
            report::change::status(&shown, &suspects, arguments.audit.verbose).render(format)
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Programs that are running and set such things all the time. The kernel does not keep who wrote to a file of its own.
fn suspects() -> Vec<String> {
    let host = host::view(&Live::this_machine());
    let processes = host.processes.as_deref().unwrap_or_default();
    let running = host.tuners.running(processes).into_iter();
    running.filter(|it| it.tuner.is_setter).map(|it| it.named()).collect()
}

pub(crate) fn watch_drift(arguments: &Arguments, options: &DriftArguments) -> Result<ExitCode> {
    let folder = &options.state.state_dir;
    let has_drifted =
        drift::watch(folder, options.interval, options.duration, &mut tell(arguments))?;
    Ok(if has_drifted { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

pub(crate) const STATUS_EXAMPLES: &str = "\
Examples:
  fullclock status          what is applied, and who changed it since
  fullclock status --all    reverted ones, too; those of one run in one line
  fullclock status --json
  fullclock status --ids    for scripts: the ids alone
  fullclock status --redfish https://bmc7 --user ro --password-file bmc.pw";

pub(crate) const DRIFT_EXAMPLES: &str = "\
Examples:
  fullclock watch-drift             until Ctrl-C
  fullclock watch-drift -d 10m      exit code 1 if something drifted";
