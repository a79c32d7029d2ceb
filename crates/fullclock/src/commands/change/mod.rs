//! The commands that change this machine.

pub(super) mod apply;
pub(super) mod controller;
pub(super) mod plan;
pub(super) mod revert;
pub(super) mod status;

use crate::output;
use anyhow::Result;
use clap::Args;
use engine::change::opened::program;
use engine::change::requested::Asked;
use host::change::{Machine, guard, latency};
use plan::PlanArguments;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where changes are recorded.
#[derive(Args, Clone, Debug)]
pub(crate) struct StateArguments {
    /// The folder of the journal
    #[arg(long, value_name = "FOLDER", default_value = "/var/lib/fullclock", value_parser = absolute)]
    pub(crate) state_dir: PathBuf,
}

/// The path from the root: guards and units of systemd run in another folder.
fn absolute(path: &str) -> std::io::Result<PathBuf> {
    std::path::absolute(path)
}

/// A change was refused or did not stick.
const REFUSED: u8 = 3;

/// The arguments of this command, for the journal.
pub(super) fn command_words() -> Vec<String> {
    output::command_line().into_iter().skip(1).collect()
}

fn asked(options: &PlanArguments) -> Asked<'_> {
    Asked { what: &options.what, profiles: &options.profiles, i_know: options.i_know }
}

/// The exit code: 0, or that of a refused change.
pub(super) fn code(is_refused: bool) -> ExitCode {
    if is_refused { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS }
}

/// `fullclock hold-latency MICROSECONDS`: a process that holds a latency request until it is ended. Changes start it.
pub(crate) fn hold_latency(microseconds: i32) -> Result<ExitCode> {
    latency::hold(microseconds)?;
    Ok(ExitCode::SUCCESS)
}

/// `fullclock guard-change FOLDER [CHANGE]`: a process that reverts what is interrupted or not confirmed. Changes start it.
pub(crate) fn guard_change(folder: &Path, id: Option<&str>) -> Result<ExitCode> {
    let undone = guard::run(&Machine::this(program()?), folder, id)?;
    Ok(code(undone.iter().any(|it| !it.fate.is_clean())))
}

/// Examples of the commands that no user starts.
pub(crate) const HELD_EXAMPLES: &str = "\
Examples:
  fullclock apply --confirm-within 5m cpu-dma-latency=20    starts both";
