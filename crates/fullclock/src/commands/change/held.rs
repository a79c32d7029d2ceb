//! The processes that stay behind: one holds a latency request, one reverts what is interrupted or not confirmed. No user starts
//! them.

use anyhow::Result;
use engine::change::opened::program;
use host::change::{Machine, guard, latency};
use std::path::Path;
use std::process::ExitCode;

/// `fullclock hold-latency MICROSECONDS`.
pub(crate) fn latency(microseconds: i32) -> Result<ExitCode> {
    latency::hold(microseconds)?;
    Ok(ExitCode::SUCCESS)
}

/// `fullclock guard-change FOLDER [CHANGE]`.
pub(crate) fn guard(folder: &Path, id: Option<&str>) -> Result<ExitCode> {
    let undone = guard::run(&Machine::this(program()?), folder, id)?;
    Ok(super::code(undone.iter().any(|it| !it.fate.is_clean())))
}
