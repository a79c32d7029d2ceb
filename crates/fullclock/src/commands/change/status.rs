//! `fullclock status`: what is applied, who has changed it since, and what the next boot will do.

use crate::cli::Arguments;
use crate::commands::change::options::StatusArguments;
use crate::output::{self};
use anyhow::Result;
use engine::change::opened::program;
use facts::change::{Standing, WrittenPlace};
use host::Live;
use host::change::{Access, Journal, Machine, standing};
use std::process::ExitCode;

pub(crate) fn run(arguments: &Arguments, options: &StatusArguments) -> Result<ExitCode> {
    let journal = Journal::open(&options.state.state_dir, Access::Read)?;
    let machine = Machine::this(program()?);
    let shown = standing(&machine, &journal, options.all)?;
    let is_changed = |it: &WrittenPlace| matches!(it.standing, Standing::Changed { .. });
    let has_changed = shown.iter().flat_map(|it| &it.places).any(is_changed);
    let suspects = if has_changed { suspects() } else { Vec::new() };
    let text = if arguments.output.json {
        report::change::status_json(&shown, &suspects)?
    } else {
        let style = output::style(arguments.output.color);
        report::change::status(&shown, &suspects, arguments.audit.verbose, style)
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Programs that are running and set such things all the time. The kernel does not keep who wrote to a file of its own.
fn suspects() -> Vec<String> {
    let host = host::view(&Live::this_machine());
    let processes = host.processes.as_deref().unwrap_or_default();
    let running = host.tuners.running(processes).into_iter();
    running.filter(|(it, _)| it.is_setter).map(|(it, _)| it.name.to_owned()).collect()
}
