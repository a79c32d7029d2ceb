//! `fullclock agent`: a node of a race that is run elsewhere.

mod desk;
mod session;

use crate::cli::{AgentArguments, Arguments};
use crate::output;
use anyhow::{Context, Result, anyhow, bail};
use desk::{Desk, PATIENCE};
use engine::clock::now;
use engine::interrupt::Interrupt;
use engine::{connections, secret};
use lab::lines::Timed;
use session::{Door, HANDSHAKE};
use std::cell::Cell;
use std::io::{BufReader, ErrorKind, stdin, stdout};
use std::net::TcpStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;

/// The name of the file of an agent's token.
pub(super) const TOKEN: &str = "agent.token";

/// How long an agent that was started for one race goes on without it, where its input stays open.
const PATIENCE_OF_ONE: Duration = Duration::from_secs(20);

/// How soon the end of a session is noticed.
const GLANCE: Duration = Duration::from_millis(100);

pub(super) fn run(arguments: &Arguments, options: &AgentArguments) -> Result<ExitCode> {
    engine::bench::clear_up(&std::env::temp_dir(), None, &mut crate::tell::tell(arguments))?;
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
    let desk = Arc::new(Desk::with(PATIENCE));
    let at = connections::listen(options.listen, serving(token, desk.clone()))?;
    output::print(&format!("listening at {at}; the token is in {}\n", path.display()))?;
    while !interrupt.wait(Duration::from_secs(3600)) {}
    desk.clear();
    Ok(ExitCode::SUCCESS)
}

/// Serves a connection from its greeting to its end.
fn serving(token: String, desk: Arc<Desk>) -> impl Fn(&TcpStream) + Send + Sync {
    move |stream| {
        let until = Cell::new(Some(now() + HANDSHAKE));
        let (timed, door) =
            (Timed { stream, until: &until }, Door { token: &token, until: &until });
        // Whoever is not there any more needs no answer.
        session::serve(BufReader::new(timed), stream, Some(&door), &desk).ok();
    }
}

/// Serves whoever started this process, until it closes our input.
fn on_stdio(options: &AgentArguments) -> Result<ExitCode> {
    if let Some(folder) = &options.cgroup {
        host::control_group::enter(folder)
            .with_context(|| format!("cannot enter the control group {}", folder.display()))?;
    }
    let interrupt = Interrupt::listen()?;
    // Nobody else can go on with it.
    let desk = Arc::new(Desk::with(PATIENCE_OF_ONE));
    let own = desk.clone();
    let serve = move || session::serve(BufReader::new(stdin()), stdout(), None, &own);
    let session = Builder::new().name("session".to_owned()).spawn(serve)?;
    while !session.is_finished() && !interrupt.wait(GLANCE) {}
    desk.clear();
    if !session.is_finished() {
        // It waits for orders, and nobody wants any.
        return Ok(ExitCode::SUCCESS);
    }
    let served = session.join().map_err(|_| anyhow!("the session panicked"))?;
    match served {
        // The race has gone, and hears nothing.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        served => served.context("the connection to the race was lost")?,
    }
    Ok(ExitCode::SUCCESS)
}
