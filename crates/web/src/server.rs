//! Connections: taken, answered and closed, and the end of all of them.

use super::client::Client;
use super::peers::{Peers, Place};
use anyhow::{Context, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::net::sockopt::set_tcp_user_timeout;
use std::net::TcpListener;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::watch;

/// Connections that the kernel completes before they are taken; it allows net.core.somaxconn of them, 4,096 by default
/// (Documentation/networking/ip-sysctl.rst). The standard library asks for 128, which a flood fills at once: a client whose
/// connection finds no room tries again after a second.
const BACKLOG: i32 = 4096;

/// How long a connection may take to ask again.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long an answer may wait for a peer that takes none of it, in milliseconds.
const FORGOTTEN: u32 = 60_000;

/// What a request may have in front of its body. No request has a body that is read.
const LARGEST_HEAD: usize = 16 << 10;

/// Work that may wait for a disk at the same time: results that are followed, audits.
const THREADS: usize = 64;

/// How long answers may take to end when the server does.
const FAREWELL: Duration = Duration::from_millis(200);

/// How long to wait where no connection can be taken, as where there are too many open files.
const REST: Duration = Duration::from_millis(10);

/// Connections that are taken before those that there are go on.
const AT_ONCE: usize = 16;

/// How often to look whether there is memory to give back.
const TRIM: Duration = Duration::from_secs(5);

/// Answers every client, until it is told to stop.
pub(super) fn run(
    listener: TcpListener,
    pages: Router,
    peers: Arc<Peers>,
    stop: watch::Receiver<bool>,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .build()
        .context("cannot start to serve")?;
    // As a task like the others: the runtime prefers what it blocks on, so that connections would be taken faster than they are
    // answered and closed.
    let accepting = runtime.spawn(accept(listener, pages, peers, stop));
    let served = runtime.block_on(accepting);
    runtime.shutdown_timeout(FAREWELL);
    served.context("the server panicked")?
}

async fn accept(
    listener: TcpListener,
    pages: Router,
    peers: Arc<Peers>,
    mut stop: watch::Receiver<bool>,
) -> Result<()> {
    // On a socket that listens already this changes the length of its queue (net/ipv4/af_inet.c, inet_listen).
    rustix::net::listen(&listener, BACKLOG).context("cannot listen")?;
    let listening = listener.set_nonblocking(true);
    let listener = listening.and_then(|()| tokio::net::TcpListener::from_std(listener));
    let listener = listener.context("cannot listen")?;
    let mut trim = tokio::time::interval(TRIM);
    for n in 1_usize.. {
        if n.is_multiple_of(AT_ONCE) {
            tokio::task::yield_now().await;
        }
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = trim.tick() => {
                if peers.have_shrunk() {
                    tokio::task::spawn_blocking(host::process::give_back_memory);
                }
                continue;
            }
            _ = stop.changed() => return Ok(()),
        };
        if let Ok((stream, address)) = accepted {
            if let Some(place) = peers.enter(address.ip()) {
                tokio::spawn(converse(stream, pages.clone(), place));
            }
        } else {
            peers.make_room();
            tokio::time::sleep(REST).await;
        }
    }
    Ok(())
}

/// One connection to its end. What breaks it is the client's affair.
async fn converse(stream: TcpStream, pages: Router, place: Arc<Place>) {
    stream.set_nodelay(true).ok();
    // A peer that takes nothing is as gone as one that acknowledges nothing (tcp(7), TCP_USER_TIMEOUT).
    set_tcp_user_timeout(&stream, FORGOTTEN).ok();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(LARGEST_HEAD);
    let client = Arc::new(Client::of(&stream));
    let has_asked = AtomicBool::new(false);
    let pages = TowerToHyperService::new(pages);
    let answer = |request: hyper::Request<hyper::body::Incoming>| {
        has_asked.store(true, Ordering::Relaxed);
        place.begin_answer();
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(Arc::clone(&place));
        request.extensions_mut().insert(Arc::clone(&client));
        let (answer, place) = (pages.call(request), Arc::clone(&place));
        async move {
            let answer = answer.await;
            place.end_answer();
            answer
        }
    };
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service_fn(answer)));
    let mut deadline = pin!(tokio::time::sleep(place.limits().first_head));
    let mut is_new = true;
    loop {
        tokio::select! {
            biased;
            _ = connection.as_mut() => return,
            () = place.evicted() => {
                // Its request may have come already, and hold the token: the runtime looks for it before it goes on here.
                tokio::select! {
                    biased;
                    _ = connection.as_mut() => return,
                    () = tokio::task::yield_now() => {}
                }
                if !place.is_kept() {
                    return;
                }
            }
            () = deadline.as_mut(), if is_new => {
                is_new = false;
                if !has_asked.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
