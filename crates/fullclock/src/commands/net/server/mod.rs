//! `fullclock net server`: the other end of a client's test.

mod desk;
mod session;

use crate::cli::{Arguments, ServerArguments};
use crate::output;
use anyhow::Result;
use desk::Desk;
use engine::interrupt::Interrupt;
use engine::{connections, secret};
use session::Door;
use std::net::TcpStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked whether the server should end.
const GLANCE: Duration = Duration::from_millis(200);

/// How long a client that is served may take to notice that the server ends.
const FAREWELL: Duration = Duration::from_secs(2);

pub(super) fn run(arguments: &Arguments, options: &ServerArguments) -> Result<ExitCode> {
    let path = secret::path(options.token_file.as_deref(), super::TOKEN)?;
    let token = secret::read_or_make(&path)?;
    let interrupt = Interrupt::listen()?;
    let (desk, cpus) = (Arc::new(Desk::new()), options.cpus.clone());
    let device = options.device.clone();
    let door = Door { token, cpus, device, desk: desk.clone() };
    // Whoever is not there any more needs no answer.
    let serve = move |stream: &TcpStream| drop(door.serve(stream));
    let at = connections::listen(options.listen, serve)?;
    output::print(&format!("listening at {at}; the token is in {}\n", path.display()))?;
    while !interrupt.wait(GLANCE) {
        if desk.idle().is_some_and(|it| it >= options.timeout) {
            let idle = facts::quantity::roughly(options.timeout.as_secs_f64());
            output::note(&arguments.output, &format!("no client was there for {idle}: it ends"));
            return Ok(ExitCode::SUCCESS);
        }
    }
    desk.stop();
    let mut waited = Duration::ZERO;
    while desk.idle().is_none() && waited < FAREWELL {
        std::thread::sleep(GLANCE);
        waited += GLANCE;
    }
    Ok(ExitCode::SUCCESS)
}
