//! Connections: how many there may be, how long one may take to ask, and the end of all of them.

use anyhow::{Context, Result};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::net::sockopt::set_tcp_user_timeout;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Connections at the same time; more wait until one of them ends, and one that asks nothing ends soon.
const MOST: usize = 2000;

/// How long a connection may take to ask, and to ask again.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long an answer may wait for a peer that takes none of it, in milliseconds.
const FORGOTTEN: u32 = 60_000;

/// What a request may have in front of its body. Nobody here reads one.
const LARGEST_HEAD: usize = 16 << 10;

/// Work that may wait for a disk at the same time: results that are followed, audits.
const THREADS: usize = 64;

/// How long answers may take to end when the server does.
const FAREWELL: Duration = Duration::from_millis(200);

/// How long to wait where no connection can be taken, as where there are too many open files.
const REST: Duration = Duration::from_millis(100);

/// Answers whoever comes, until it is told to stop.
pub(super) fn run(listener: TcpListener, pages: Router, stop: watch::Receiver<bool>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .build()
        .context("cannot start to serve")?;
    let served = runtime.block_on(accept(listener, pages, stop));
    runtime.shutdown_timeout(FAREWELL);
    served
}

async fn accept(
    listener: TcpListener,
    pages: Router,
    mut stop: watch::Receiver<bool>,
) -> Result<()> {
    let listening = listener.set_nonblocking(true);
    let listener = listening.and_then(|()| tokio::net::TcpListener::from_std(listener));
    let listener = listener.context("cannot listen")?;
    let room = Arc::new(Semaphore::new(MOST));
    loop {
        let next = async {
            let place = Arc::clone(&room).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            next = next => next,
            _ = stop.changed() => return Ok(()),
        };
        match (place, accepted) {
            (Ok(place), Ok((stream, _))) => {
                tokio::spawn(converse(stream, pages.clone(), place));
            }
            _ => tokio::time::sleep(REST).await,
        }
    }
}

/// One connection to its end. What breaks it is the browser's affair.
async fn converse(stream: TcpStream, pages: Router, place: OwnedSemaphorePermit) {
    stream.set_nodelay(true).ok();
    // A peer that takes nothing is as gone as one that acknowledges nothing (tcp(7), TCP_USER_TIMEOUT).
    set_tcp_user_timeout(&stream, FORGOTTEN).ok();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(LARGEST_HEAD);
    let answers = TowerToHyperService::new(pages);
    http.serve_connection(TokioIo::new(stream), answers).await.ok();
    drop(place);
}
