//! Pages and figures of this machine for a browser, Prometheus and scripts.
//!
//! ```text
//!   Watched: an interval every second, on its own thread           engine::sampling
//!         |   Reading
//!         v
//!   Now: the latest, and a ring of the last minutes as lines       now, ring
//!   Tally: what all of them add up to                              tally
//!         |                    |
//!         v                    v
//!   /metrics              /api/v1/now, as server-sent events       openmetrics, events
//!
//!   results on disk: the file is the buffer of all readers         lab::store
//!         |   Follower
//!         v
//!   /api/v1/results/ID/intervals, as server-sent events            intervals, events
//! ```
//!
//! Every connection has a place among the others (peers, limits), every request passes the gate (gate, credentials, client).
//!
//! Nothing here prints, and nothing changes the host or a result, not even an index. Asynchronous code waits for browsers,
//! threads do the work.
#![forbid(unsafe_code)]

mod accept;
mod answer;
mod audits;
mod client;
mod credentials;
mod documents;
mod explanations;
mod fleets;
mod gate;
mod intervals;
mod limits;
mod machine;
mod now;
mod openmetrics;
mod pages;
mod peers;
mod results;
mod ring;
mod server;
mod tally;
mod work;

use anyhow::{Context, Result, anyhow};
use audits::Audits;
use axum::http::HeaderMap;
use axum::routing::{get, post};
use axum::{Extension, Router};
use client::Client;
use engine::interrupt::Interrupt;
use engine::sampling::{Plan, Watched};
use fleets::Fleets;
use gate::Gate;
use host::Live;
use lab::record::Fingerprint;
use limits::{Limits, Streams};
use machine::Machine;
use now::Now;
use peers::Peers;
use results::Results;
use rules::config::Config;
use rules::watch::{Probing, View};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;
use tally::{Clocks, Tally};
use tokio::sync::watch;
use work::Work;

pub use fleets::{Fleet, Judged};

/// Where the server listens, which requests it answers, and what it shows.
pub struct Options {
    /// The socket that clients connect to.
    pub listener: TcpListener,
    /// Names that requests may call this machine by, in addition to its addresses and `localhost`.
    pub host_names: Vec<String>,
    /// The token that every request has to show; without one all requests are answered.
    pub token: Option<String>,
    /// The time between two samples.
    pub interval: Duration,
    /// The folder of results.
    pub results: PathBuf,
    /// What the site has decided about findings, and its thresholds.
    pub config: Config,
    /// Whether the speed of an idle CPU is probed: 50 ms in 500 s at most.
    pub speed_probe: bool,
    /// Whether `/metrics` has series of each CPU.
    pub by_cpu: bool,
    /// The fleet of the Fleet page; without one there is no such page.
    pub fleet: Option<Fleet>,
}

/// What requests are answered from.
struct Served {
    machine: Machine,
    now: Now,
    tally: Tally,
    audits: Audits,
    fleets: Fleets,
    results: Results,
    work: Work,
    readings: Streams,
    intervals: Streams,
}

/// How soon a wish to stop is noticed by the thread that samples.
const GLANCE: Duration = Duration::from_millis(100);

/// Samples this machine and answers requests until the user interrupts it. `ready` is called with the address once the server
/// answers; its error stops the server.
///
/// Errors: this machine cannot be sampled, the server cannot start or fails, or `ready` fails.
pub fn serve(
    options: Options,
    interrupt: &Interrupt,
    ready: impl FnOnce(SocketAddr) -> Result<()>,
) -> Result<()> {
    let Options { listener, host_names, token, interval, results, config, fleet, .. } = options;
    let live = Live::this_machine();
    let host = host::view(&live);
    let fingerprint = Fingerprint::of(&host);
    let view = View::everything(std::process::id());
    let plan = Plan { interval, cpus: None, view, probing: Probing::Busy };
    let most_files = host::counters::raise_open_files();
    let mut clocks = Clocks::of(&host, options.speed_probe);
    let watched = Watched::begin(live, host, plan, None)?;
    let limits = Limits::of_process(most_files, token.is_some());
    let served = Arc::new(Served {
        machine: Machine::of(&watched, &fingerprint, interval),
        now: Now::default(),
        tally: Tally::begin(&watched, options.by_cpu),
        audits: Audits::new(config),
        fleets: Fleets::new(fleet),
        results: Results::of(results),
        work: Work::default(),
        readings: Streams::new("readings", limits.readings),
        intervals: Streams::new("intervals", limits.intervals),
    });
    let at = listener.local_addr().context("cannot tell where it listens")?;
    let pages = router(&served, Gate::new(&host_names, token));
    let peers = Peers::new(limits);
    let answer = |stopped| server::run(listener, pages, peers, stopped);
    let take = |watched: &mut Watched| {
        served.now.push(served.tally.sample(watched, &mut clocks));
    };
    sample_and_answer(take, watched, answer, interrupt, || ready(at))
}

/// Takes samples and answers, each on its own thread, until the user interrupts or one of them ends.
fn sample_and_answer(
    mut take: impl FnMut(&mut Watched) + Send,
    mut watched: Watched,
    answer: impl FnOnce(watch::Receiver<bool>) -> Result<()> + Send,
    interrupt: &Interrupt,
    ready: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let stopping = AtomicBool::new(false);
    let (stop, stopped) = watch::channel(false);
    std::thread::scope(|scope| {
        let sample = || {
            while !stopping.load(Ordering::Relaxed) {
                let left = watched.left();
                if left.is_zero() {
                    take(&mut watched);
                } else {
                    std::thread::sleep(left.min(GLANCE));
                }
            }
        };
        let answer = || answer(stopped);
        let started = Builder::new().name("samples".to_owned()).spawn_scoped(scope, sample);
        let sampling = started.map_err(|error| anyhow!(host::process::thread_refusal(&error)))?;
        let started = Builder::new().name("pages".to_owned()).spawn_scoped(scope, answer);
        let ended = started
            .map_err(|error| anyhow!(host::process::thread_refusal(&error)))
            .and_then(|answering| {
                let told = ready();
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
        gate::session(&own, &headers, &client)
    };
    let api = Router::new()
        .route("/session", post(session))
        .route("/machine", get(machine::show))
        .route("/now", get(now::events))
        .route("/sample", get(now::sample))
        .route("/audit", get(audits::show))
        .route("/fleet", get(fleets::show))
        .route("/fleet/document", get(fleets::document))
        .route("/results", get(results::list))
        .route("/results/{id}", get(results::show))
        .route("/results/{id}/intervals", get(intervals::events))
        .route("/results/{id}/document", get(documents::show))
        .route("/compare", get(results::compare))
        .route("/studies", get(results::studies))
        .route("/studies/{id}/report.html", get(results::report))
        .route("/openapi.json", get(pages::openapi));
    Router::new()
        .merge(pages::router(served.fleets.has_one()))
        .route("/metrics", get(openmetrics::show))
        .route("/explain/{id}", get(explanations::show))
        .nest("/api/v1", api)
        .fallback(answer::nothing_here)
        .method_not_allowed_fallback(answer::only_read)
        .with_state(Arc::clone(served))
        .layer(axum::middleware::from_fn_with_state(gate, gate::guard))
}
