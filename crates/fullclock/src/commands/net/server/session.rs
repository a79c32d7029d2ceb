//! One connection to a server: it controls a test, or carries its data.

use super::desk::{Desk, Seat};
use crate::commands::net::placement::Over;
use crate::commands::net::{adapter, guard, own_adapters};
use anyhow::Result;
use engine::clock::now;
use engine::secret;
use facts::{CpuSet, HostView};
use lab::lines::{Timed, send};
use lab::net::perftest::{self, Adapter};
use lab::net::protocol::{Greeting, News, Order, PROTOCOL, Part, Report, Task, Transport};
use lab::net::{Accounts, Broken, Found, Outcome, SILENCE, Side, Streams};
use std::cell::{Cell, OnceCell};
use std::io::{self, BufReader};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
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
    /// The RDMA port that the user names.
    pub(super) device: Option<String>,
    pub(super) desk: Arc<Desk>,
}

/// What carries the data of a session.
enum Carrier {
    Streams(Vec<TcpStream>),
    Adapter(Adapter),
}

/// A session whose client may ask for message sizes.
struct Prepared<'a> {
    task: Task,
    carrier: Carrier,
    /// This machine before the test.
    host: &'a HostView,
    accounts: Accounts<'a>,
}

impl Carrier {
    fn over(&self) -> Over<'_> {
        match self {
            Carrier::Streams(streams) => Over::Streams(streams),
            Carrier::Adapter(adapter) => Over::Port(adapter),
        }
    }
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
        let host = OnceCell::new();
        let mut current: Option<Prepared<'_>> = None;
        loop {
            until.set(Some(now() + PATIENCE));
            let Some(order) = PROTOCOL.receive(from)? else { return Ok(()) };
            let news = match (order, &mut current) {
                (Order::Prepare(task), None) => match self.adapter(&task) {
                    Err(why) => News::Refused { why },
                    Ok(over) => {
                        let host = host.get_or_init(guard::before);
                        let accounts = guard::accounts(host, self.cpus.as_ref());
                        let (adapter, perftest) = over.unzip();
                        send(&mut to, &News::Ready { session: seat.session.clone(), perftest })?;
                        let carrier = match adapter {
                            Some(adapter) => Carrier::Adapter(adapter),
                            None => Carrier::Streams(gathered(seat, &task)?),
                        };
                        current = Some(Prepared { task, carrier, host, accounts });
                        continue;
                    }
                },
                (Order::Measure(part), Some(prepared)) => match part.refusal() {
                    Some(why) => News::Refused { why },
                    None => reported(self.measure(prepared, &part, to)),
                },
                (Order::Judge { cpus }, Some(prepared)) => self.judged(prepared, &cpus),
                (Order::Prepare(_), Some(_)) | (Order::Measure(_) | Order::Judge { .. }, None) => {
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

    /// What a task over RDMA goes over, and the version of perftest; `None` where it needs neither.
    ///
    /// Errors: why it is not done.
    fn adapter(&self, task: &Task) -> Result<Option<(Adapter, String)>, String> {
        if let Some(why) = task.refusal() {
            return Err(why);
        }
        match task.transport {
            Transport::Tcp => Ok(None),
            Transport::Rdma => {
                let version = perftest::version(task.test)?;
                let adapter = adapter::adapter(&own_adapters(), self.device.as_deref())?;
                Ok(Some((adapter, version)))
            }
        }
    }

    fn judged(&self, prepared: &mut Prepared<'_>, cpus: &str) -> News {
        let cpus = CpuSet::parse_list(cpus).unwrap_or_default();
        let cpus = self.cpus.as_ref().unwrap_or(&cpus);
        let Prepared { carrier, host, accounts, .. } = prepared;
        News::Judged(Box::new(guard::judgement(accounts, host, &carrier.over(), cpus)))
    }

    fn measure(
        &self,
        prepared: &mut Prepared<'_>,
        part: &Part,
        to: &TcpStream,
    ) -> Result<Report, Broken> {
        let Prepared { task, carrier, accounts, .. } = prepared;
        accounts.begin();
        match carrier {
            Carrier::Streams(streams) => self.over_streams(task, part, streams, accounts),
            Carrier::Adapter(adapter) => self.over_rdma(task, part, adapter, accounts, to),
        }
    }

    fn over_streams(
        &self,
        task: &Task,
        part: &Part,
        streams: &[TcpStream],
        accounts: &mut Accounts<'_>,
    ) -> Result<Report, Broken> {
        let stop = self.desk.stopped();
        let end = Streams { side: Side::Server, streams, cpus: self.cpus.as_ref(), stop };
        let Outcome { found, work, clocks } = end.measure(task.test, part)?;
        accounts.note(&clocks);
        let moved = if let Found::Throughput(moved) = found { Some(moved) } else { None };
        Ok(Report { moved, work })
    }

    /// Its program ends with the control connection, too: a client that is gone starts no program.
    fn over_rdma(
        &self,
        task: &Task,
        part: &Part,
        adapter: &Adapter,
        accounts: &mut Accounts<'_>,
        mut to: &TcpStream,
    ) -> Result<Report, Broken> {
        let is_unwanted = || self.desk.stopped().load(Ordering::Relaxed) || is_gone(to);
        let end = perftest::End {
            test: task.test,
            streams: task.streams,
            adapter,
            cpus: self.cpus.as_ref(),
            is_unwanted: &is_unwanted,
        };
        let ran = end.serve(part, |port| send(&mut to, &News::Listening { port }))?;
        accounts.note_program(&ran);
        Ok(Report { moved: None, work: vec![ran.work] })
    }
}

fn reported(measured: Result<Report, Broken>) -> News {
    match measured {
        Ok(report) => News::Measured(report),
        Err(why) => News::Failed { why: why.to_string() },
    }
}

/// Whether the other end of a connection has closed it.
fn is_gone(stream: &TcpStream) -> bool {
    let looked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
    // What cannot be asked is lost, and so is what cannot be written to as before.
    let is_gone = match looked {
        Ok(n_bytes) => n_bytes == 0,
        Err(why) => why.kind() != io::ErrorKind::WouldBlock,
    };
    stream.set_nonblocking(false).is_err() || is_gone
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
