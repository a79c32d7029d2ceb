//! What this machine does now.

use super::Served;
use super::answer::{self, Refusal, SILENCE, event, sign_of_life};
use super::limits::StreamPermit;
use super::peers::{Place, Streaming};
use super::ring::Ring;
use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use facts::{Fact, Missing};
use futures_util::stream;
use report::samples::json;
use rules::metric::Values;
use rules::watch::{self, Column, Reading, Shares};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// What the server knows of the time since it began.
pub(super) struct Now {
    latest: Mutex<Option<Arc<Reading>>>,
    ring: Ring,
    /// Tells this server from one before it, whose numbers mean nothing here.
    began: String,
}

/// How many bytes of readings are sent as one piece, which a slow client makes wait in memory.
const AT_ONCE: usize = 16 << 10;

impl Default for Now {
    #[expect(
        clippy::disallowed_methods,
        reason = "no fact of a host: what tells one server from another"
    )]
    fn default() -> Now {
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        Now { latest: Mutex::default(), ring: Ring::default(), began: format!("{began:x}") }
    }
}

impl Now {
    /// Adds what an interval showed.
    pub(super) fn push(&self, reading: Reading) {
        let line = line(&reading).to_string();
        // Who hears of it may ask for all of it.
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(reading));
        self.ring.push(line);
    }

    /// The latest interval; none where the first is not over.
    pub(super) fn latest(&self) -> Option<Arc<Reading>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Behind which number of this server's a browser goes on; `None` where it had one of another's.
    fn number_of(&self, last_id: &str) -> Option<u64> {
        let (began, number) = last_id.split_once('-')?;
        if began == self.began { number.parse().ok() } else { None }
    }
}

/// The latest interval, with everything: `schemas/sample-2.json`.
pub(super) async fn sample(State(served): State<Arc<Served>>) -> Result<Response, Refusal> {
    let reading =
        served.now.latest().ok_or_else(|| Refusal::busy("the first interval is not over"))?;
    let line = json::line(&served.machine.head(), &reading, |_| true).map_err(Refusal::failed)?;
    Ok(answer::written(&line))
}

/// Where a browser is in the intervals.
struct Reader {
    served: Arc<Served>,
    latest: tokio::sync::watch::Receiver<u64>,
    number: u64,
    waiting: VecDeque<String>,
    _stream: Streaming,
    _permit: StreamPermit,
}

/// Every interval from the oldest that is remembered, or behind the last one that the browser has, and then as they end.
pub(super) async fn events(
    State(served): State<Arc<Served>>,
    Extension(place): Extension<Arc<Place>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let permit = served.readings.open(place.peer())?;
    let last = answer::last_id(&headers);
    let number = last.map(|it| served.now.number_of(it));
    let mut waiting = VecDeque::new();
    if number == Some(None) {
        waiting.push_back(event("gap", None, r#"{"missed":null}"#));
    }
    let latest = served.now.ring.latest();
    let reader = Reader {
        served,
        latest,
        number: number.flatten().unwrap_or(0),
        waiting,
        _stream: place.begin_stream(),
        _permit: permit,
    };
    Ok(answer::response(stream::unfold(reader, |mut it| async move {
        let text = it.next().await;
        Some((text, it))
    })))
}

impl Reader {
    async fn next(&mut self) -> String {
        loop {
            if let Some(text) = self.waiting.pop_front() {
                return text;
            }
            // Seen before it is looked at, so that a line which comes in between is not slept over.
            self.latest.borrow_and_update();
            let now = &self.served.now;
            let behind = now.ring.behind(self.number, AT_ONCE);
            let mut text = String::new();
            if behind.missed > 0 {
                text += &event("gap", None, &json!({ "missed": behind.missed }).to_string());
            }
            for (number, line) in behind.lines {
                text += &event("reading", Some(&format!("{}-{number}", now.began)), &line);
                self.number = number;
            }
            if !text.is_empty() {
                return text;
            }
            // The sender lives as long as the server.
            if tokio::time::timeout(SILENCE, self.latest.changed()).await.is_err() {
                return sign_of_life();
            }
        }
    }
}

/// What a page draws of an interval: little, as there may be ten a second of hundreds of CPUs.
fn line(reading: &Reading) -> Value {
    json!({
        "at": reading.at.real_ns as f64 / 1e9,
        "elapsed_s": reading.elapsed_ns.as_ref().ok().map(|ns| *ns as f64 / 1e9),
        "cpus": reading.cpus.to_string(),
        "ledger": ledger(&reading.shares),
        "clock_mhz": first_known(reading, &["busy-mhz", "clock-probe"]),
        "ticks": by_cpu(reading, "ticks"),
        "throttled": peak(reading, "throttle-time"),
        "kernel_threads": threads(reading),
        "notes": reading.notes,
    })
}

/// As pages are told that something is not known.
fn missing(why: &Missing) -> Value {
    json!({ "missing": watch::text(why), "remedy": watch::remedy(why) })
}

fn ledger(shares: &Fact<Shares>) -> Value {
    match shares {
        Err(why) => missing(why),
        Ok(shares) => json!({
            "capacity_ns": shares.capacity_ns,
            "lines": shares.lines.iter().map(|it| json!([it.loss, it.part, it.ns.as_ref().ok()])).collect::<Vec<_>>(),
            "unexplained_ns": shares.unexplained_ns,
        }),
    }
}

/// The columns of a metric; at least one where the view has it.
fn columns<'a>(reading: &'a Reading, id: &str) -> impl Iterator<Item = &'a Column> {
    reading.columns.iter().filter(move |it| it.metric.id == id)
}

/// One value for each CPU, or why there is none of any.
fn by_cpu(reading: &Reading, id: &str) -> Value {
    let Some(column) = columns(reading, id).next() else {
        return missing(&Missing::not_collected(id));
    };
    match column.series.as_ref().map(|it| &it.values) {
        Err(why) => missing(why),
        Ok(Values::Cpus(values)) => match values.missing() {
            Some(why) if values.known().next().is_none() => missing(why),
            _ => {
                let value =
                    |cpu| values.get(cpu).and_then(|it| it.as_ref().ok()).map(|it| tenths(*it));
                reading.cpus.iter().map(value).collect()
            }
        },
        Ok(_) => missing(&Missing::not_collected(id)),
    }
}

/// The first of these that is known of some CPU.
fn first_known(reading: &Reading, ids: &[&str]) -> Value {
    let all: Vec<Value> = ids.iter().map(|it| by_cpu(reading, it)).collect();
    let known = all.iter().find(|it| it.is_array());
    known.or(all.first()).cloned().unwrap_or(Value::Null)
}

/// The highest of all packages, cores or CPUs.
fn peak(reading: &Reading, id: &str) -> Value {
    let mut highest: Option<f64> = None;
    let mut reason = None;
    for column in columns(reading, id) {
        match column.series.as_ref().map(|it| &it.values) {
            Err(why) => reason = reason.or(Some(why)),
            Ok(Values::Host(fact)) => match fact {
                Ok(value) => highest = Some(highest.map_or(*value, |it| it.max(*value))),
                Err(why) => reason = reason.or(Some(why)),
            },
            Ok(Values::Cpus(values) | Values::Cores(values) | Values::Packages(values)) => {
                highest = values.known().map(|it| *it.1).chain(highest).reduce(f64::max);
                reason = reason.or(values.missing());
            }
        }
    }
    match (highest, reason) {
        (Some(value), _) => json!(tenths(value)),
        (None, Some(why)) => missing(why),
        (None, None) => missing(&Missing::not_collected(id)),
    }
}

/// Kernel threads that ran, in percent of one CPU.
fn threads(reading: &Reading) -> Value {
    const ID: &str = "kernel-threads";
    let mut threads = Vec::new();
    for column in columns(reading, ID) {
        match column.series.as_ref().map(|it| &it.values) {
            Err(why) => return missing(why),
            Ok(Values::Host(Ok(value))) if *value >= 0.05 => {
                threads.push(json!([column.part(), tenths(*value)]));
            }
            Ok(_) => {}
        }
    }
    threads.into()
}

/// More digits than a chart shows.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
