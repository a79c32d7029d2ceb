//! `fullclock watch-drift`: says when something undoes a setting, and who.

use crate::cli::Arguments;
use crate::commands::change::options::DriftArguments;
use crate::tell::tell;
use anyhow::Result;
use engine::change::drift;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Arguments, options: &DriftArguments) -> Result<ExitCode> {
    let folder = &options.state.state_dir;
    let has_drifted =
        drift::watch(folder, options.interval, options.duration, &mut tell(arguments))?;
    Ok(if has_drifted { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
