//! The server of a network test: the other end of a client's, one client at a time.

use super::placement::Over;
use super::{adapter, guard, own_adapters};
use crate::clock::now;
use crate::interrupt::Interrupt;
use crate::peer::{Admitted, Connection, HANDSHAKE, Lease, Listener, Slot};
use crate::secret;
use anyhow::Result;
use facts::{CpuSet, HostView};
use lab::lines::{Welcome, send};
use lab::net::perftest::{self, Adapter};
use lab::net::protocol::{News, Order, PROTOCOL, Part, Report, Task, Transport};
use lab::net::{Accounts, Broken, Found, Outcome, SILENCE, Side, Streams};
use std::cell::OnceCell;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

/// How long a client may take between two orders: it judges its own clocks between them.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often the interrupt and the timeout are checked.
const GLANCE: Duration = Duration::from_millis(200);

/// How long a client that is served may take to notice that the server ends.
const FAREWELL: Duration = Duration::from_secs(2);

/// What a server uses of this machine.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where this end's threads work; `None` where the scheduler chooses.
    pub cpus: Option<CpuSet>,
    /// The RDMA port that the user names.
    pub device: Option<String>,
}

/// A server that listens.
pub struct Server {
    /// The address and port that it listens on.
    pub at: SocketAddr,
    sessions: Arc<Sessions>,
}

/// Why a server has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// No client was served for the timeout.
    Idle,
    /// The user stopped it.
    Interrupted,
}

impl Server {
    /// Listens at an address, for clients who know the token.
    pub fn start(at: SocketAddr, token: String, options: Options) -> Result<Server> {
        let sessions =
            Arc::new(Sessions { options, slot: Slot::new(), stop: AtomicBool::new(false) });
        let listener = Listener {
            protocol: PROTOCOL,
            token: Some(token),
            name: "server",
            client: "the client",
            beginning: "this is a server of `fullclock net`: a test begins with hello",
            has_streams: true,
            strangers: Some("this is a server of `fullclock net`"),
        };
        let own = sessions.clone();
        let at =
            listener.listen(at, move |admitted, connection| own.serve(admitted, connection))?;
        Ok(Server { at, sessions })
    }

    /// Serves clients until none was there for `timeout`, or the user wants to stop.
    pub fn run(&self, timeout: Duration, interrupt: &Interrupt) -> Ended {
        let Sessions { slot, stop, .. } = &*self.sessions;
        while !interrupt.wait(GLANCE) {
            if slot.idle().is_some_and(|it| it >= timeout) {
                return Ended::Idle;
            }
        }
        stop.store(true, Ordering::Relaxed);
        let mut waited = Duration::ZERO;
        while slot.idle().is_none() && waited < FAREWELL {
            std::thread::sleep(GLANCE);
            waited += GLANCE;
        }
        Ended::Interrupted
    }
}

/// What all connections of a server share.
struct Sessions {
    options: Options,
    slot: Arc<Slot<Client>>,
    /// The user's wish to stop.
    stop: AtomicBool,
}

/// The client that is served.
#[derive(Clone)]
struct Client {
    at: SocketAddr,
    /// What its streams have to name.
    session: String,
    streams: Sender<TcpStream>,
}

/// A client's session, from when it is let in to its end.
struct Session {
    id: String,
    /// The streams that named it.
    streams: Receiver<TcpStream>,
    _lease: Lease<Client>,
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

impl Sessions {
    /// Serves a client to its end, or hands a stream to the session that it belongs to.
    fn serve(&self, admitted: Admitted, connection: Connection<'_>) -> Result<()> {
        let mut to = connection.to;
        let refuse = |why: String| send(&mut &*connection.to, &Welcome::Refused { why });
        match admitted {
            Admitted::Stream(session) => {
                if !self.join(&session, to.try_clone()?) {
                    refuse("it has no such session".to_owned())?;
                }
            }
            Admitted::Client => match self.take(to.peer_addr()?)? {
                Ok(session) => {
                    // Orders and answers are short, and each is waited for.
                    to.set_nodelay(true)?;
                    to.set_write_timeout(Some(SILENCE))?;
                    send(&mut to, &PROTOCOL.welcome())?;
                    self.obey(&session, connection)?;
                }
                Err(why) => refuse(why)?,
            },
        }
        Ok(())
    }

    /// A session for the client at that address, or why there is none.
    fn take(&self, at: SocketAddr) -> Result<Result<Session, String>> {
        let id = secret::random()?;
        let (sender, streams) = mpsc::channel();
        let client = Client { at, session: id.clone(), streams: sender };
        let lease = self.slot.take(client);
        Ok(lease.map(|lease| Session { id, streams, _lease: lease }).map_err(|other| {
            format!("it serves a client at {} already: wait until that is over", other.at)
        }))
    }

    /// Gives a stream to its session; returns whether there is one.
    fn join(&self, session: &str, stream: TcpStream) -> bool {
        let client = self.slot.latest().filter(|it| secret::are_same(&it.session, session));
        client.is_some_and(|it| it.streams.send(stream).is_ok())
    }

    /// Carries out the orders of a client, until it closes the connection or one fails.
    fn obey(&self, session: &Session, connection: Connection<'_>) -> io::Result<()> {
        let Connection { mut to, mut from, until } = connection;
        let host = OnceCell::new();
        let mut current: Option<Prepared<'_>> = None;
        loop {
            until.set(Some(now() + PATIENCE));
            let Some(order) = PROTOCOL.receive(&mut from)? else { return Ok(()) };
            let news = match (order, &mut current) {
                (Order::Prepare(task), None) => match self.adapter(&task) {
                    Err(why) => News::Refused { why },
                    Ok(over) => {
                        let host = host.get_or_init(guard::before);
                        let accounts = guard::accounts(host, self.options.cpus.as_ref());
                        let (adapter, perftest) = over.unzip();
                        send(&mut to, &News::Ready { session: session.id.clone(), perftest })?;
                        let carrier = match adapter {
                            Some(adapter) => Carrier::Adapter(adapter),
                            None => Carrier::Streams(gathered(session, &task)?),
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
                let adapter = adapter::adapter(&own_adapters(), self.options.device.as_deref())?;
                Ok(Some((adapter, version)))
            }
        }
    }

    fn judged(&self, prepared: &mut Prepared<'_>, cpus: &str) -> News {
        let cpus = CpuSet::parse_list(cpus).unwrap_or_default();
        let cpus = self.options.cpus.as_ref().unwrap_or(&cpus);
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
        let stop = &self.stop;
        let end = Streams { side: Side::Server, streams, cpus: self.options.cpus.as_ref(), stop };
        let Outcome { found, work, clocks } = end.measure(task.test, part)?;
        accounts.note(&clocks);
        let moved = if let Found::Throughput(moved) = found { Some(moved) } else { None };
        Ok(Report { moved, work })
    }

    /// Runs perftest. Its program ends with the control connection, too: a client that is gone starts no program.
    fn over_rdma(
        &self,
        task: &Task,
        part: &Part,
        adapter: &Adapter,
        accounts: &mut Accounts<'_>,
        mut to: &TcpStream,
    ) -> Result<Report, Broken> {
        let is_unwanted = || self.stop.load(Ordering::Relaxed) || is_gone(to);
        let end = perftest::End {
            test: task.test,
            streams: task.streams,
            adapter,
            cpus: self.options.cpus.as_ref(),
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

/// The streams of a task. Each gets an answer.
///
/// Errors: not all of them came in time.
fn gathered(session: &Session, task: &Task) -> io::Result<Vec<TcpStream>> {
    let until = now() + HANDSHAKE;
    (0..task.streams)
        .map(|_| {
            let left = until.saturating_duration_since(now());
            let stream = session.streams.recv_timeout(left);
            let mut stream = stream.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
            send(&mut stream, &Welcome::Joined)?;
            Ok(stream)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn one_client_is_served_and_only_its_streams_come_through() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let stream = || TcpStream::connect(at).unwrap();
        let (slot, stop) = (Slot::new(), AtomicBool::new(false));
        let server = Sessions { options: Options::default(), slot, stop };
        let session = server.take(at).unwrap().unwrap();
        let why = server.take(at).unwrap().err().unwrap();
        assert!(why.contains(&at.to_string()), "{why}");
        assert!(!server.join("", stream()) && !server.join("0123", stream()));
        assert!(server.join(&session.id, stream()));
        assert_eq!((session.streams.try_iter().count(), server.slot.idle()), (1, None));
        let id = session.id.clone();
        drop(session);
        assert!(server.slot.idle().is_some() && !server.join(&id, stream()));
        assert!(server.take(at).unwrap().unwrap().id != id);
    }
}
