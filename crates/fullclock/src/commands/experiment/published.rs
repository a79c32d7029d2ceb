//! `fullclock experiment --from`: what a published table settles.

use crate::cli::Arguments;
use crate::commands::bytes_of;
use crate::output::{self, Style};
use crate::render;
use anyhow::{Result, anyhow, bail};
use lab::experiment::published::from_csv;
use std::path::Path;
use std::process::ExitCode;

/// Far more than any table has.
const LARGEST: u64 = 1 << 20;

pub(super) fn run(arguments: &Arguments, file: &Path) -> Result<ExitCode> {
    let shown = file.display();
    let Some(bytes) = bytes_of(file, LARGEST)? else {
        bail!("{shown} holds 1 MiB or more: it is something else");
    };
    let table =
        from_csv(&String::from_utf8_lossy(&bytes)).map_err(|why| anyhow!("{shown}: {why}"))?;
    let text = if arguments.output.json {
        render::experiment::published_json(&table)?
    } else {
        render::experiment::published(&table, Style::of_stdout(arguments.output.color))
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
