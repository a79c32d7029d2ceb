//! `fullclock agent`: a node of a race that is run elsewhere.

use crate::cli::{AgentArguments, Arguments};
use crate::output;
use crate::tell::tell;
use anyhow::{Context, Result, bail};
use engine::agent::{self, Agent, TOKEN};
use engine::interrupt::Interrupt;
use engine::secret;
use std::process::ExitCode;
use std::time::Duration;

pub(super) fn run(arguments: &Arguments, options: &AgentArguments) -> Result<ExitCode> {
    engine::bench::clear_up(&std::env::temp_dir(), None, &mut tell(arguments))?;
    if options.stdio {
        return on_stdio(options);
    }
    if !options.listen.ip().is_loopback() {
        bail!(
            "--listen {}: a race is not encrypted, so agents listen to their own machine only; `ssh -L` brings that elsewhere, \
             or `fullclock race --nodes ssh:HOST` starts an agent there",
            options.listen
        );
    }
    let path = secret::path(options.token_file.as_deref(), TOKEN)?;
    let token = secret::read_or_make(&path)?;
    let interrupt = Interrupt::listen()?;
    let agent = Agent::start(options.listen, token)?;
    output::print(&format!("listening at {}; the token is in {}\n", agent.at, path.display()))?;
    while !interrupt.wait(Duration::from_secs(3600)) {}
    agent.end();
    Ok(ExitCode::SUCCESS)
}

/// Serves whoever started this process, until it closes our input.
fn on_stdio(options: &AgentArguments) -> Result<ExitCode> {
    if let Some(folder) = &options.cgroup {
        host::control_group::enter(folder)
            .with_context(|| format!("cannot enter the control group {}", folder.display()))?;
    }
    agent::serve_stdio(&Interrupt::listen()?)?;
    Ok(ExitCode::SUCCESS)
}
