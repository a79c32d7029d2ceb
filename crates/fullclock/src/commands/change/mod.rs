//! The commands that change this machine.

pub(super) mod apply;
pub(super) mod confirm;
pub(super) mod drift;
pub(super) mod held;
pub(super) mod options;
pub(super) mod plan;
pub(super) mod revert;
pub(super) mod status;

use crate::cli::Arguments;
use crate::commands::change::options::PlanArguments;
use crate::output;
use anyhow::{Result, bail};
use engine::change::requested::Asked;
use std::process::ExitCode;

/// A change was refused or did not stick.
const REFUSED: u8 = 3;

/// The words of this command, for the journal.
pub(super) fn command_words() -> Vec<String> {
    output::command_line().into_iter().skip(1).collect()
}

/// Refuses options that name another host.
pub(super) fn refuse_other_host(arguments: &Arguments) -> Result<()> {
    if arguments.host.root.is_some() || arguments.host.host.is_some() {
        bail!("only the machine that this runs on can be changed: leave out --root and --host");
    }
    Ok(())
}

fn asked(options: &PlanArguments) -> Asked<'_> {
    Asked { what: &options.what, profiles: &options.profiles, i_know: options.i_know }
}

/// Success, or the code of what was refused.
pub(super) fn code(is_refused: bool) -> ExitCode {
    if is_refused { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS }
}
