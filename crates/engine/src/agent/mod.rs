//! The agent of a node: it works on a race that is run elsewhere, one at a time.

mod races;
mod session;

use crate::interrupt::Interrupt;
use crate::peer::Listener;
use anyhow::{Context, Result, anyhow};
use lab::race::protocol::PROTOCOL;
use races::Races;
use std::io::{self, BufReader, ErrorKind, stdin, stdout};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;

/// The name of the file of an agent's token.
pub const TOKEN: &str = "agent.token";

/// How long a race goes on without a message from its client, which asks for the time every other second.
const PATIENCE: Duration = Duration::from_secs(300);

/// The same for an agent that was started for one race and whose input stays open.
const PATIENCE_OF_ONE: Duration = Duration::from_secs(20);

/// How often the end of the session is checked.
const GLANCE: Duration = Duration::from_millis(100);

/// An agent that listens.
pub struct Agent {
    /// Where.
    pub at: SocketAddr,
    races: Arc<Races>,
}

impl Agent {
    /// Listens at an address, for races that know the token.
    pub fn start(at: SocketAddr, token: String) -> Result<Agent> {
        let races = Arc::new(Races::with(PATIENCE));
        let own = races.clone();
        let at = listener(Some(token)).listen(at, move |_, connection| {
            Ok(session::serve(connection.from, connection.to, &own)?)
        })?;
        Ok(Agent { at, races })
    }

    /// Ends its race, if there is one, and waits until nothing is left of it.
    pub fn end(&self) {
        self.races.end();
    }
}

/// Serves the process that started this one, until it closes our input or the user wants to stop.
pub fn serve_stdio(interrupt: &Interrupt) -> Result<()> {
    // No other process can go on with its race.
    let races = Arc::new(Races::with(PATIENCE_OF_ONE));
    let own = races.clone();
    let serve = move || -> io::Result<()> {
        let (mut from, mut to) = (BufReader::new(stdin()), stdout());
        match listener(None).admit(&mut from, &mut to)? {
            Some(_) => session::serve(from, to, &own),
            None => Ok(()),
        }
    };
    let session = Builder::new().name("session".to_owned()).spawn(serve)?;
    while !session.is_finished() && !interrupt.wait(GLANCE) {}
    races.end();
    if !session.is_finished() {
        // Its thread waits for orders and ends with this process.
        return Ok(());
    }
    let served = session.join().map_err(|_| anyhow!("the session panicked"))?;
    match served {
        // The other side has exited.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        served => served.context("the connection to the race was lost"),
    }
}

fn listener(token: Option<String>) -> Listener {
    Listener {
        protocol: PROTOCOL,
        token,
        name: "agent",
        client: "the race",
        beginning: "a race begins with hello",
        has_streams: false,
        strangers: None,
    }
}
