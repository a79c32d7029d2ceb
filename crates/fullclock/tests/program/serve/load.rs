//! Scrapes with the token, and what they take with thousands of hostile connections and streams.

use crate::serve::server::Server;
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 5000;
const STREAMS: usize = 1000;

/// How long a hostile client waits between two requests, which keeps a connection open for ever, and how long after a stream
/// was refused: as long as the server asks browsers to.
const AGAIN: Duration = Duration::from_secs(6);
const RETRY: Duration = Duration::from_secs(1);

/// How long the attack lasts, and how long memory may take to be given back after it.
const ATTACK: Duration = Duration::from_secs(20);
const AFTER: Duration = Duration::from_secs(15);

/// The longest that a scrape may take.
const LIMIT: Duration = Duration::from_secs(1);

/// Ends the attack with the block that it stands in, also where that panics.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Raises the number of files that this process may open to its limit; whether that is enough.
fn can_open_enough() -> bool {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let enough = u64::try_from(2 * (CONNECTIONS + STREAMS)).unwrap();
    let is_enough = limit.maximum.is_none_or(|it| it >= enough);
    if !is_enough {
        println!("skipped: needs {enough} open files, and the hard limit is {:?}", limit.maximum);
    }
    is_enough
}

/// What a hostile client does: opens a connection, asks, keeps it for as long as it is there, asks again each six seconds, and
/// a while after it was closed begins again.
async fn hostile(at: SocketAddr, path: &str, pause: Duration, n_opened: Arc<AtomicU64>) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    loop {
        if let Ok(stream) = tokio::net::TcpStream::connect(at).await {
            n_opened.fetch_add(1, Ordering::Relaxed);
            while stream.writable().await.is_ok() && stream.try_write(request.as_bytes()).is_ok() {
                let again = tokio::time::sleep(AGAIN);
                tokio::select! {
                    () = ended(&stream) => break,
                    () = again => {}
                }
            }
        }
        tokio::time::sleep(pause).await;
    }
}

/// Reads what comes until the server closes the connection.
async fn ended(stream: &tokio::net::TcpStream) {
    let mut bytes = [0; 1024];
    while stream.readable().await.is_ok() {
        match stream.try_read(&mut bytes) {
            Ok(0) => return,
            Err(error) if error.kind() != ErrorKind::WouldBlock => return,
            _ => {}
        }
    }
}

/// A thread of hostile clients, which end with it.
fn attack(at: SocketAddr, is_over: &AtomicBool) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let n_opened = Arc::new(AtomicU64::new(0));
    runtime.block_on(async {
        for (n, path, pause) in
            [(CONNECTIONS, "/api/v1/machine", AGAIN), (STREAMS, "/api/v1/now", RETRY)]
        {
            for at_n in 0..n {
                let n_opened = Arc::clone(&n_opened);
                tokio::spawn(async move {
                    // Spread over a pause: all at once they are more than the kernel's queue of new connections holds.
                    tokio::time::sleep(pause.mul_f64(at_n as f64 / n as f64)).await;
                    hostile(at, path, pause, n_opened).await;
                });
            }
        }
        while !is_over.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    n_opened.load(Ordering::Relaxed)
}

/// A scrape on a new connection from that address, and how long it took.
fn scrape(at: SocketAddr, from: [u8; 4], headers: &str) -> Duration {
    let began = Instant::now();
    let own = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&own, &SocketAddr::from((from, 0))).unwrap();
    connect(&own, &at).unwrap();
    let mut stream = TcpStream::from(own);
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(
        stream,
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer:.200}");
    began.elapsed()
}

/// Memory that is resident, in MiB.
fn resident(server: &Server) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}

/// Files that a server has open, its connections among them.
fn n_files(server: &Server) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", server.child.id())).unwrap().count()
}

/// The median and the longest, in milliseconds.
fn summary(mut took: Vec<Duration>) -> String {
    took.sort_unstable();
    let ms = |it: Duration| it.as_secs_f64() * 1e3;
    let (median, longest) = (took[took.len() / 2], took[took.len() - 1]);
    format!("{} scrapes, median {:.1} ms, max {:.1} ms", took.len(), ms(median), ms(longest))
}

fn scrapes_are_answered(name: &str, server: &Server, headers: &str) {
    if !can_open_enough() {
        return;
    }
    scrape(server.at, [127, 0, 0, 1], headers);
    std::thread::sleep(Duration::from_secs(2));
    let before = resident(server);
    let is_over = AtomicBool::new(false);
    let mut took = [Vec::new(), Vec::new()];
    let (mut most, mut most_files) = (before, 0);
    let n_opened = std::thread::scope(|scope| {
        let ends = Ends(&is_over);
        let attacking = scope.spawn(|| attack(server.at, &is_over));
        let began = Instant::now();
        while began.elapsed() < ATTACK {
            for (took, last) in took.iter_mut().zip([1, 2]) {
                took.push(scrape(server.at, [127, 0, 0, last], headers));
            }
            most = most.max(resident(server));
            most_files = most_files.max(n_files(server));
            std::thread::sleep(Duration::from_millis(100));
        }
        drop(ends);
        attacking.join().unwrap()
    });
    std::thread::sleep(AFTER);
    let after = resident(server);
    let longest = took.iter().flatten().max().copied().unwrap();
    let [same, other] = took.map(summary);
    println!("{name}: {n_opened} hostile connections opened in {} s", ATTACK.as_secs());
    println!("  from the attacker's address: {same}\n  from another one: {other}");
    println!(
        "  resident: {before:.1} MiB before, at most {most:.1}, {after:.1} after {} s",
        AFTER.as_secs()
    );
    println!("  at most {most_files} open files");
    assert!(longest < LIMIT, "a scrape took {longest:?}");
    assert!(most_files < 1500, "{most_files} open files are more than 1,000 connections have");
    assert!(after < before + 8.0, "memory is kept: {before:.1} MiB before, {after:.1} after");
}

mod alone {
    use super::*;

    #[test]
    #[ignore = "takes half a minute and 6,000 connections: cargo test -p fullclock --test program -- --ignored hostile"]
    fn scrapes_with_the_token_take_less_than_a_second_with_6000_hostile_connections() {
        let (server, token) = Server::with_token();
        scrapes_are_answered("token", &server, &format!("Authorization: Bearer {token}\r\n"));
    }
}
