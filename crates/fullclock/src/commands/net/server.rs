//! `fullclock net server`: the other end of a client's test.

use crate::cli::{Arguments, cpu_list};
use crate::output;
use anyhow::Result;
use clap::Args;
use engine::interrupt::Interrupt;
use engine::net::TOKEN;
use engine::net::server::{Ended, Options, Server};
use engine::secret;
use facts::{CpuSet, quantity};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Whom a server listens to.
#[derive(Args, Debug)]
pub(crate) struct ServerArguments {
    /// The address to listen at: 0.0.0.0:7079 is every one of this machine
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7079")]
    pub(crate) listen: SocketAddr,
    /// The file that holds the token which a client has to know; made where there is none [default: net.token in
    /// /var/lib/fullclock as root, or in ~/.local/state/fullclock]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The CPUs that this end's threads take turns on, a list like 0-3,8 [default: where the scheduler puts them]
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub(crate) cpus: Option<CpuSet>,
    /// The RDMA port that tests over RDMA go over, mlx5_0 or mlx5_0/1 [default: the only one with a link]
    #[arg(long, value_name = "NAME")]
    pub(crate) device: Option<String>,
    /// End once no client was there for that long
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = quantity::duration)]
    pub(crate) timeout: Duration,
}

pub(super) fn run(arguments: &Arguments, options: &ServerArguments) -> Result<ExitCode> {
    let path = secret::path(options.token_file.as_deref(), TOKEN)?;
    let token = secret::read_or_make(&path)?;
    let interrupt = Interrupt::listen()?;
    let used = Options { cpus: options.cpus.clone(), device: options.device.clone() };
    let server = Server::start(options.listen, token, used)?;
    output::print(&format!("listening at {}; the token is in {}\n", server.at, path.display()))?;
    if server.run(options.timeout, &interrupt) == Ended::Idle {
        let idle = quantity::roughly(options.timeout.as_secs_f64());
        output::note(&arguments.output, &format!("no client was there for {idle}: it ends"));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock net server                          for clients on this machine
  fullclock net server --listen 0.0.0.0:7079    for others; then, on the client:
    scp db2:/var/lib/fullclock/net.token t
    fullclock net client db2 --token-file t";
