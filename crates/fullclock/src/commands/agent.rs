//! `fullclock agent`: a node of a race that is run elsewhere.

use crate::cli::Arguments;
use crate::output;
use crate::tell::tell;
use anyhow::{Context, Result, bail};
use clap::Args;
use engine::agent::{self, Agent, TOKEN};
use engine::interrupt::Interrupt;
use engine::secret;
use facts::quantity;
use host::quota_group::QuotaGroup;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Whom an agent listens to.
#[derive(Args, Debug)]
pub(crate) struct AgentArguments {
    /// The address to listen at; of this machine only, as nothing is encrypted: ssh brings it elsewhere
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7078")]
    pub(crate) listen: SocketAddr,
    /// The file that holds the token which a race has to know; made where there is none [default: agent.token in
    /// /var/lib/fullclock as root, or in ~/.local/state/fullclock]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Listen to standard input instead, to the program that started it: `ssh HOST fullclock agent --stdio`
    #[arg(long, conflicts_with_all = ["listen", "token_file"])]
    pub(crate) stdio: bool,
    /// Enter this control group first
    #[arg(long, value_name = "FOLDER", requires = "stdio", hide = true)]
    pub(crate) cgroup: Option<PathBuf>,
    /// Run in a new control group with this CPU quota, in CPUs, and remove the group at the end
    #[arg(long, value_name = "CPUS", requires = "stdio", conflicts_with = "cgroup", hide = true, value_parser = quantity::cpus)]
    pub(crate) quota: Option<f64>,
}

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
        host::process::enter_control_group(folder)
            .with_context(|| format!("cannot enter the control group {0}; `mkdir {0}` makes it, and its file cpu.max (version 1: \
                                      cpu.cfs_quota_us) takes a quota", folder.display()))?;
    }
    // Listens before there is a group, which then goes however this ends.
    let interrupt = Interrupt::listen()?;
    let group = options.quota.map(QuotaGroup::enter).transpose();
    let group = group.context("quota=: no control group with a quota")?;
    let served = agent::serve_stdio(&interrupt);
    drop(group);
    served?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock agent                          on db1; then, where the race is run:
    scp db1:/var/lib/fullclock/agent.token t
    ssh -N -o ExitOnForwardFailure=yes -L 7078:127.0.0.1:7078 db1 &
    fullclock race --nodes agent:127.0.0.1:7078,ssh:db2 --token-file t
  fullclock race --nodes ssh:db1,ssh:db2   starts its agents itself";
