//! One connection to a server: it controls a test, or carries its data.

use super::desk::{Desk, Seat};
use crate::clock::now;
use crate::commands::net::guard;
use crate::secret;
use anyhow::Result;
use facts::CpuSet;
use lab::lines::{Timed, send};
use lab::wire::protocol::{Greeting, News, Order, PROTOCOL, Part, Report, Task};
use lab::wire::{Crew, Found, Outcome, SILENCE, Side};
use std::cell::Cell;
use std::io::{self, BufReader};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long who connects may take to say who it is, and a client to bring its streams.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long a client may take between two orders: it judges its own clocks between them.
const PATIENCE: Duration = Duration::from_secs(60);

/// What every connection has to pass, and whom it finds behind it.
pub(super) struct Door {
    pub(super) token: String,
    /// Where this end's threads work.
    pub(super) cpus: Option<CpuSet>,
    pub(super) desk: Arc<Desk>,
}

impl Door {
    /// Serves a connection to its end, or hands it to the session that it belongs to.
    pub(super) fn serve(&self, stream: &TcpStream) -> Result<()> {
        let until = Cell::new(Some(now() + HANDSHAKE));
        let mut from = BufReader::new(Timed { stream, until: &until });
        let refuse = |why: &str| send(&mut &*stream, &News::Refused { why: why.to_owned() });
        let greeting = match PROTOCOL.receive_greeting(&mut from) {
            Ok(Some(greeting)) => greeting,
            Ok(None) => return Ok(()),
            Err(why) if why.kind() == io::ErrorKind::InvalidData => {
                return Ok(refuse(&format!("this is a server of `fullclock net`: {why}"))?);
            }
            Err(why) => return Err(why.into()),
        };
        match greeting {
            Greeting::Join { session } => {
                let own = stream.try_clone()?;
                if !self.desk.join(&session, own) {
                    refuse("it has no such session")?;
                }
                Ok(())
            }
            Greeting::Hello { protocol, version, token } => {
                if !secret::are_same(&self.token, &token) {
                    let why = "the token is not the server's; --token-file names a copy of the server's file";
                    return Ok(refuse(why)?);
                }
                if let Some(why) = PROTOCOL.misunderstanding("the client", protocol, &version) {
                    return Ok(refuse(&why)?);
                }
                match self.desk.take(stream.peer_addr()?)? {
                    Ok(seat) => Ok(self.obey(&seat, stream, &mut from, &until)?),
                    Err(why) => Ok(refuse(&why)?),
                }
            }
        }
    }

    /// Does what the client orders, until it has no more to say.
    fn obey(
        &self,
        seat: &Seat<'_>,
        mut to: &TcpStream,
        from: &mut BufReader<Timed<'_>>,
        until: &Cell<Option<Instant>>,
    ) -> io::Result<()> {
        // Orders and answers are short, and each is waited for.
        to.set_nodelay(true)?;
        to.set_write_timeout(Some(SILENCE))?;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        send(&mut to, &News::Hello { protocol: PROTOCOL.version, version })?;
        let mut current: Option<(Task, Vec<TcpStream>)> = None;
        loop {
            until.set(Some(now() + PATIENCE));
            let Some(order) = PROTOCOL.receive(from)? else { return Ok(()) };
            let news = match (order, &current) {
                (Order::Prepare(task), None) => match task.refusal() {
                    Some(why) => News::Refused { why },
                    None => {
                        send(&mut to, &News::Ready { session: seat.session.clone() })?;
                        current = Some((task, gathered(seat, &task)?));
                        continue;
                    }
                },
                (Order::Measure(part), Some((task, streams))) => {
                    self.measured(task, &part, streams)
                }
                (Order::Judge { cpus }, _) => {
                    News::Judged(guard::clocks(&CpuSet::parse_list(&cpus).unwrap_or_default()))
                }
                (Order::Prepare(_), Some(_)) | (Order::Measure(_), None) => {
                    let why = "this is not the order of the protocol of tests of the wire";
                    News::Refused { why: why.to_owned() }
                }
            };
            send(&mut to, &news)?;
            if matches!(news, News::Refused { .. } | News::Failed { .. }) {
                return Ok(());
            }
        }
    }

    fn measured(&self, task: &Task, part: &Part, streams: &[TcpStream]) -> News {
        if let Some(why) = part.refusal() {
            return News::Refused { why };
        }
        let stop = self.desk.stopped();
        let crew = Crew { side: Side::Server, streams, cpus: self.cpus.as_ref(), stop };
        match crew.measure(task.test, part) {
            Ok(Outcome { found, work }) => {
                let moved = if let Found::Moved(moved) = found { Some(moved) } else { None };
                News::Measured(Report { moved, work })
            }
            Err(why) => News::Failed { why: why.to_string() },
        }
    }
}

/// The streams of a task, each told that it is there.
///
/// Errors: not all of them came in time.
fn gathered(seat: &Seat<'_>, task: &Task) -> io::Result<Vec<TcpStream>> {
    let until = now() + HANDSHAKE;
    (0..task.streams)
        .map(|_| {
            let left = until.saturating_duration_since(now());
            let stream = seat.streams.recv_timeout(left);
            let mut stream = stream.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
            send(&mut stream, &News::Joined)?;
            Ok(stream)
        })
        .collect()
}
