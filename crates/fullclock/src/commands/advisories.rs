//! `fullclock advisories`: published faults, and which of them concern this machine or a copy of another.

use crate::cli::Arguments;
use crate::complete;
use crate::config;
use crate::head::head;
use crate::output;
use crate::result::ResultArguments;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use clap_complete::engine::ArgValueCandidates;
use engine::advised::ask_controller;
use report::advisories;
use rules::advisory::catalog;
use rules::advisory::standing::{Standing, standings};
use std::process::ExitCode;

/// The options of `fullclock advisories`.
#[derive(Args, Debug)]
pub(crate) struct AdvisoriesOptions {
    /// The advisory to explain
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::advisories))]
    id: Option<String>,
    #[command(flatten)]
    result: ResultArguments,
}

pub(super) fn run(arguments: &Arguments, options: &AdvisoriesOptions) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    let config = config::of_host(arguments)?;
    let catalog = catalog(&config.advisories).map_err(|error| anyhow!(error))?;
    let (source, name) = super::open(arguments)?;
    let (host, audit) = output::with_progress(&arguments.output, "reading the host ...", || {
        let mut host = host::view(&*source);
        host.thresholds = config.thresholds.clone();
        ask_controller(&*source, &mut host, &catalog);
        let audit = rules::audit::audit(&host);
        (host, audit)
    });
    let mut all = standings(&host, catalog, Some(audit.looked()));
    if let Some(id) = &options.id {
        all.retain(|it| it.advisory.id == *id);
        if all.is_empty() {
            bail!("there is no advisory {id:?}: `fullclock advisories -v` lists them");
        }
    }
    destination.print(&match (destination.format(), &*all) {
        (None, all) => advisories::json(&head(arguments), &host, all)?,
        (Some(format), [one]) if options.id.is_some() => advisories::explained(one).render(format),
        (Some(format), all) => listed(arguments, &name, all).render(format),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn listed(arguments: &Arguments, name: &str, all: &[Standing]) -> report::document::Document {
    advisories::document(name, all, arguments.audit.verbose)
}

pub(super) const EXAMPLES: &str = "\
Examples:
  fullclock advisories                    what concerns this machine
  fullclock advisories -v                 all of them
  fullclock advisories oda-clock-modulation
                                          what one is about, and its sources
  fullclock advisories --host db7.host    of another machine, by its capture
  fullclock advisories --json | jq '.advisories[] | {id, state}'";
