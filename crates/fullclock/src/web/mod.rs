//! `fullclock serve`: pages and figures of this machine for a browser, Prometheus and scripts.
//!
//! ```text
//!   Watched: an interval every second, on a thread of its own      watch
//!         |   Reading
//!         v
//!   Now: the latest, and a ring of the last minutes as lines       now, ring
//!         |                    |
//!         v                    v
//!   /metrics              /api/v1/now, as server-sent events       openmetrics, events
//!
//!   results on disk: the file is the buffer of whoever reads       lab/store
//!         |   Follower
//!         v
//!   /api/v1/results/ID/intervals, as server-sent events            intervals, events
//! ```
//!
//! Every connection has a place among the others (peers, limits), every request passes the gate (gate, credentials, client).
//!
//! Nothing here changes anything, not even an index. Asynchronous code is in this module only: it waits for browsers, threads do
//! the work.

mod accept;
mod audits;
mod client;
mod credentials;
mod events;
mod gate;
mod intervals;
mod json;
mod limits;
mod machine;
mod now;
mod openmetrics;
mod pages;
mod peers;
mod refusal;
mod results;
mod ring;
mod server;
mod streams;
mod work;

use anyhow::{Context, Result, anyhow};
use audits::Audits;
use axum::http::HeaderMap;
use axum::routing::{get, post};
use axum::{Extension, Router};
use client::Client;
use engine::interrupt::Interrupt;
use engine::sampling::Watched;
pub(crate) use gate::Gate;
use lab::record::Fingerprint;
pub(crate) use limits::Limits;
use machine::Machine;
use now::Now;
use peers::Peers;
use results::Results;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;
use streams::Streams;
use tokio::sync::watch;
use work::Work;

/// Who is served, and with what.
pub(crate) struct Plan {
    /// Where browsers come to.
    pub(crate) listener: TcpListener,
    /// Which requests it answers.
    pub(crate) gate: Gate,
    /// How many connections and streams it has.
    pub(crate) limits: Limits,
    /// What samples this machine.
    pub(crate) watched: Watched,
    /// What this machine is.
    pub(crate) fingerprint: Fingerprint,
    /// The time between two samples.
    pub(crate) interval: Duration,
    /// The folder of results.
    pub(crate) results: PathBuf,
}

/// What requests are answered from.
struct Served {
    machine: Machine,
    now: Now,
    audits: Audits,
    results: Results,
    work: Work,
    readings: Streams,
    intervals: Streams,
}

/// How soon a wish to stop is noticed by the thread that samples.
const GLANCE: Duration = Duration::from_millis(100);

/// Serves until the user wants it to stop. `ready` is called once it answers.
pub(crate) fn serve(
    plan: Plan,
    interrupt: &Interrupt,
    ready: impl FnOnce(SocketAddr) -> Result<()>,
) -> Result<()> {
    let Plan { listener, gate, limits, mut watched, fingerprint, interval, results } = plan;
    let served = Arc::new(Served {
        machine: Machine::of(&watched, &fingerprint, interval),
        now: Now::default(),
        audits: Audits::default(),
        results: Results::of(results),
        work: Work::default(),
        readings: Streams::new("readings", limits.readings),
        intervals: Streams::new("intervals", limits.intervals),
    });
    let peers = Peers::new(limits);
    let at = listener.local_addr().context("cannot tell where it listens")?;
    let stopping = AtomicBool::new(false);
    let (stop, stopped) = watch::channel(false);
    std::thread::scope(|scope| {
        let sample = || {
            while !stopping.load(Ordering::Relaxed) {
                let left = watched.left();
                if left.is_zero() {
                    served.now.push(watched.sample());
                } else {
                    std::thread::sleep(left.min(GLANCE));
                }
            }
        };
        let pages = router(&served, gate);
        let answer = || server::run(listener, pages, peers, stopped);
        let started = Builder::new().name("samples".to_owned()).spawn_scoped(scope, sample);
        let sampling = started.map_err(|error| anyhow!(host::thread::refusal(&error)))?;
        let started = Builder::new().name("pages".to_owned()).spawn_scoped(scope, answer);
        let ended =
            started.map_err(|error| anyhow!(host::thread::refusal(&error))).and_then(|answering| {
                let told = ready(at);
                while told.is_ok()
                    && !answering.is_finished()
                    && !sampling.is_finished()
                    && !interrupt.wait(GLANCE)
                {}
                stop.send(true).ok();
                let answered = answering.join().map_err(|_| anyhow!("the server panicked"))?;
                told.and(answered)
            });
        stopping.store(true, Ordering::Relaxed);
        ended
    })
}

fn router(served: &Arc<Served>, gate: Gate) -> Router {
    let gate = Arc::new(gate);
    let own = Arc::clone(&gate);
    let session = move |Extension(client): Extension<Arc<Client>>, headers: HeaderMap| async move {
        pages::session(&own, &headers, &client)
    };
    let api = Router::new()
        .route("/session", post(session))
        .route("/machine", get(machine::show))
        .route("/now", get(now::events))
        .route("/sample", get(now::sample))
        .route("/audit", get(audits::show))
        .route("/results", get(results::list))
        .route("/results/{id}", get(results::show))
        .route("/results/{id}/intervals", get(intervals::events))
        .route("/compare", get(results::compare))
        .route("/studies", get(results::studies))
        .route("/studies/{id}/report.html", get(results::report))
        .route("/openapi.json", get(pages::openapi));
    Router::new()
        .merge(pages::router())
        .route("/metrics", get(openmetrics::show))
        .nest("/api/v1", api)
        .fallback(refusal::nothing_here)
        .method_not_allowed_fallback(refusal::only_read)
        .with_state(Arc::clone(served))
        .layer(axum::middleware::from_fn_with_state(gate, gate::guard))
}
