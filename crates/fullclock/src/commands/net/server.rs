//! `fullclock net server`: the other end of a client's test.

use crate::cli::Arguments;
use crate::commands::net::options::ServerArguments;
use crate::output;
use anyhow::Result;
use engine::interrupt::Interrupt;
use engine::net::TOKEN;
use engine::net::server::{Ended, Options, Server};
use engine::secret;
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, options: &ServerArguments) -> Result<ExitCode> {
    let path = secret::path(options.token_file.as_deref(), TOKEN)?;
    let token = secret::read_or_make(&path)?;
    let interrupt = Interrupt::listen()?;
    let used = Options { cpus: options.cpus.clone(), device: options.device.clone() };
    let server = Server::start(options.listen, token, used)?;
    output::print(&format!("listening at {}; the token is in {}\n", server.at, path.display()))?;
    if server.run(options.timeout, &interrupt) == Ended::Idle {
        let idle = facts::quantity::roughly(options.timeout.as_secs_f64());
        output::note(&arguments.output, &format!("no client was there for {idle}: it ends"));
    }
    Ok(ExitCode::SUCCESS)
}
