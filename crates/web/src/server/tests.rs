//! Connections of hostile and of honest clients, against limits that are small enough to be reached at once.
#![expect(clippy::disallowed_methods, reason = "waits, though not for ever")]

use super::*;
use crate::answer::Refusal;
use crate::gate::{Gate, guard};
use crate::limits::{Share, Streams};
use crate::{Limits, answer};
use axum::Extension;
use axum::response::Response;
use axum::routing::get;
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::AtomicUsize;
use std::thread::JoinHandle;
use std::time::Instant;

/// A client that gets no answer for so long fails its test.
const LATE: Duration = Duration::from_secs(5);

const TOKEN: &str = "Authorization: Bearer secret\r\n";

struct Server {
    at: SocketAddr,
    stop: watch::Sender<bool>,
    running: Option<JoinHandle<()>>,
}

fn limits() -> Limits {
    Limits {
        unproven: 8,
        proven: 4,
        per_peer: 4,
        first_head: LATE,
        readings: Share { total: 3, per_peer: 2 },
        intervals: Share { total: 3, per_peer: 2 },
    }
}

async fn stream(
    Extension(streams): Extension<Arc<Streams>>,
    Extension(place): Extension<Arc<Place>>,
) -> Result<Response, Refusal> {
    let held = (streams.open(place.peer())?, place.begin_stream());
    let texts = futures_util::stream::unfold(held, |held| async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        Some(("data: 1\n\n".to_owned(), held))
    });
    Ok(answer::response(texts))
}

impl Server {
    fn start(token: Option<&str>, limits: Limits) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let gate = Arc::new(Gate::new(&[], token.map(str::to_owned)));
        let streams = Arc::new(Streams::new("tests", limits.readings));
        let pages = Router::new()
            .route("/metrics", get(|| async { "figures" }))
            .route("/stream", get(stream))
            .layer(Extension(streams))
            .layer(axum::middleware::from_fn_with_state(gate, guard));
        let (stop, stopped) = watch::channel(false);
        let serve = move || run(listener, pages, Peers::new(limits), stopped).unwrap();
        Server { at, stop, running: Some(std::thread::spawn(serve)) }
    }

    /// A connection from this address of the loopback device.
    fn connect(&self, from: [u8; 4]) -> Client {
        let own = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&own, &SocketAddr::from((from, 0))).unwrap();
        connect(&own, &self.at).unwrap();
        let stream = std::net::TcpStream::from(own);
        stream.set_read_timeout(Some(LATE)).unwrap();
        Client(stream)
    }

    fn connect_from_here(&self) -> Client {
        self.connect([127, 0, 0, 1])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.send(true).ok();
        if let Some(running) = self.running.take() {
            running.join().ok();
        }
    }
}

/// Ends threads with the block that it stands in, also where that panics.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Client(std::net::TcpStream);

impl Client {
    fn ask(&mut self, path: &str, headers: &str) {
        write!(self.0, "GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").ok();
    }

    /// The status of the next answer, whose body is in the same segment; 0 where the connection is closed.
    fn status(&mut self) -> u16 {
        let mut bytes = [0; 4096];
        let n = self.0.read(&mut bytes).unwrap_or(0);
        let text = String::from_utf8_lossy(&bytes[..n]).into_owned();
        text.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0)
    }

    fn get(&mut self, path: &str, headers: &str) -> u16 {
        self.ask(path, headers);
        self.status()
    }

    /// Whether the server closes the connection, and does not leave that to a deadline.
    fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        match self.0.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn a_connection_is_closed_after_a_request_without_the_token_or_with_a_wrong_name() {
    let closed = Server::start(Some("secret"), limits());
    for headers in ["", "Authorization: Bearer wrong\r\n", "Connection: keep-alive\r\n"] {
        let mut client = closed.connect_from_here();
        assert_eq!((client.get("/metrics", headers), client.is_closed()), (401, true), "{headers}");
    }
    let mut client = closed.connect_from_here();
    assert_eq!([(); 3].map(|()| client.get("/metrics", TOKEN)), [200; 3]);
    assert_eq!((client.get("/metrics", ""), client.is_closed()), (401, true));

    let open = Server::start(None, limits());
    let mut client = open.connect_from_here();
    write!(client.0, "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n").unwrap();
    assert_eq!((client.status(), client.is_closed()), (421, true));
    let mut client = open.connect_from_here();
    assert_eq!([(); 3].map(|()| client.get("/metrics", "")), [200; 3]);
}

#[test]
fn a_scraper_with_the_token_is_answered_with_any_number_of_connections_that_say_nothing() {
    for from in [[127, 0, 0, 1], [127, 0, 0, 2]] {
        let server = Server::start(Some("secret"), limits());
        let mut early = server.connect(from);
        assert_eq!(early.get("/metrics", TOKEN), 200);
        let mut hostile: Vec<Client> = (0..60).map(|_| server.connect_from_here()).collect();
        let mut late = server.connect(from);
        assert_eq!(late.get("/metrics", TOKEN), 200, "{from:?}");
        hostile.extend((0..60).map(|_| server.connect_from_here()));
        assert_eq!(early.get("/metrics", TOKEN), 200, "{from:?}");
        assert_eq!(late.get("/metrics", TOKEN), 200, "{from:?}");
        assert!(hostile.iter_mut().take(100).all(Client::is_closed));
    }
}

#[test]
fn a_new_connection_with_the_token_gets_in_during_a_flood_from_its_own_address() {
    let server = Server::start(Some("secret"), Limits::of(1 << 18, true));
    let (is_over, n_silent) = (AtomicBool::new(false), AtomicUsize::new(0));
    let flood = |says: bool| {
        let mut held = VecDeque::new();
        while !is_over.load(Ordering::Relaxed) {
            let mut client = server.connect_from_here();
            if says {
                client.ask("/metrics", "");
            } else {
                n_silent.fetch_add(1, Ordering::Relaxed);
            }
            held.push_back(client);
            if held.len() > 400 {
                held.pop_front();
            }
        }
    };
    std::thread::scope(|scope| {
        let _ends = Ends(&is_over);
        let flood = &flood;
        for says in [false, true] {
            scope.spawn(move || flood(says));
        }
        // The slots of an address are full, and each new connection closes an older one.
        let deadline = Instant::now() + LATE;
        while n_silent.load(Ordering::Relaxed) < 300 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        let n_before = n_silent.load(Ordering::Relaxed);
        let statuses: Vec<u16> =
            (0..100).map(|_| server.connect_from_here().get("/metrics", TOKEN)).collect();
        assert_eq!(statuses, [200; 100]);
        assert!(n_before >= 300, "{n_before} connections do not fill the slots of an address");
    });
}

#[test]
fn without_a_token_idle_connections_of_an_address_make_room_for_its_next_ones() {
    let server = Server::start(None, limits());
    let mut idle = Vec::new();
    for _ in 0..40 {
        let mut client = server.connect_from_here();
        assert_eq!(client.get("/metrics", ""), 200);
        idle.push(client);
    }
    assert_eq!(server.connect([127, 0, 0, 2]).get("/metrics", ""), 200);
    assert!(idle.iter_mut().take(36).all(Client::is_closed));
    assert!(idle.iter_mut().skip(36).all(|it| it.get("/metrics", "") == 200));
}

#[test]
fn streams_are_limited_by_address_and_other_requests_of_the_address_are_answered() {
    let server = Server::start(None, limits());
    let mut streams: Vec<Client> = (0..2).map(|_| server.connect_from_here()).collect();
    assert!(streams.iter_mut().all(|it| it.get("/stream", "") == 200));
    let mut more = server.connect_from_here();
    more.ask("/stream", "");
    let mut bytes = [0; 4096];
    let n = more.0.read(&mut bytes).unwrap();
    let refused = String::from_utf8_lossy(&bytes[..n]).to_ascii_lowercase();
    assert!(refused.starts_with("http/1.1 503") && refused.contains("retry-after: 5"), "{refused}");
    assert_eq!(server.connect([127, 0, 0, 2]).get("/stream", ""), 200);
    assert_eq!(more.get("/metrics", ""), 200);
    // Streams are not closed for other connections of their address.
    let mut others: Vec<Client> = (0..20).map(|_| server.connect_from_here()).collect();
    assert!(others.last_mut().unwrap().get("/metrics", "") == 200);
    assert!(streams.iter_mut().all(|it| it.0.read(&mut bytes).unwrap() > 0));
    drop(streams);
    let ended = std::iter::repeat_with(|| server.connect_from_here().get("/stream", "")).take(500);
    assert!(ended.into_iter().any(|it| it == 200), "streams that ended make no room");
}

#[test]
fn a_connection_without_a_request_is_closed_at_its_deadline_and_one_with_a_request_stays() {
    let first_head = Duration::from_millis(300);
    let server = Server::start(None, Limits { first_head, ..limits() });
    let (mut silent, mut slow, mut used) =
        (server.connect_from_here(), server.connect_from_here(), server.connect_from_here());
    assert_eq!(used.get("/metrics", ""), 200);
    write!(slow.0, "GET /metrics HTT").unwrap();
    assert!(silent.is_closed() && slow.is_closed());
    assert_eq!(used.get("/metrics", ""), 200);
}
