//! `fullclock mcp`: answers an assistant's questions about this machine.

use crate::cli::Arguments;
use crate::config;
use anyhow::{Result, bail};
use clap::Args;
use engine::interrupt::Interrupt;
use engine::results_folder::results_folder;
use std::io::{IsTerminal, stdin};
use std::path::PathBuf;
use std::process::ExitCode;

/// What is answered from.
#[derive(Args, Debug)]
pub(crate) struct McpArguments {
    /// The folder of results [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) results: Option<PathBuf>,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  {\"mcpServers\": {\"fullclock\": {\"command\": \"fullclock\", \"args\": [\"mcp\"]}}}
                              in the configuration of a client
  {\"command\": \"sudo\", \"args\": [\"-n\", \"fullclock\", \"mcp\"]}
                              as root, who sees more
  {\"command\": \"ssh\", \"args\": [\"root@db1\", \"fullclock\", \"mcp\"]}
                              of another machine";

pub(super) fn run(arguments: &Arguments, options: &McpArguments) -> Result<ExitCode> {
    if stdin().is_terminal() {
        bail!(
            "a client of the Model Context Protocol starts this, and speaks to it on standard input: see --help"
        );
    }
    let served = mcp::Options {
        results: results_folder(options.results.as_deref())?,
        config: config::with_advisories(&arguments.config)?,
    };
    mcp::serve(served, Interrupt::listen()?)?;
    Ok(ExitCode::SUCCESS)
}
