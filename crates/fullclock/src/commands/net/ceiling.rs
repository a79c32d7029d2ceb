//! `fullclock net ceiling`: what each adapter can carry at most.

use crate::cli::Arguments;
use crate::output::{self};
use anyhow::Result;
use engine::net::ceiling::only;
use rules::ceiling::{Given, ceilings};
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, device: Option<&str>, given: Given) -> Result<ExitCode> {
    let (host, name) = super::host(arguments)?;
    let mut found = ceilings(&host, given);
    if let Some(device) = device {
        only(&mut found, device, &name)?;
    }
    let text = if arguments.output.json {
        report::net::ceilings_json(&found)?
    } else {
        report::net::ceilings(&name, &found, output::style(arguments.output.color))
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
