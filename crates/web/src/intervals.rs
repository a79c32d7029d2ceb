//! The intervals of a race, from its first to its end, whether it runs or is long over.
#![expect(clippy::disallowed_methods, reason = "browsers that take nothing are left to themselves")]

use super::Served;
use super::answer::{self, Refusal, SILENCE, event, sign_of_life};
use super::documents::{self, Said};
use super::limits::StreamPermit;
use super::peers::Place;
use super::results::id_of;
use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use futures_util::stream;
use lab::record::Record;
use lab::store::{End, Follower, News};
use lab::trial::Trial;
use report::{bench, race};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Sender, channel, error::TrySendError};

/// Pieces of text that wait for the browser; the rest waits in the file.
const WAITING: usize = 8;

/// How often a result is looked at for what is new.
const LOOK: Duration = Duration::from_millis(100);

/// A browser that takes nothing for so long is gone, or may as well be.
const PATIENCE: Duration = Duration::from_secs(120);

/// How many intervals are sent as one piece.
const AT_ONCE: usize = 200;

/// Every interval behind the last one that the browser has, and then as they end.
pub(super) async fn events(
    State(served): State<Arc<Served>>,
    Extension(place): Extension<Arc<Place>>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let id = id_of(id)?;
    let n_seen = match answer::last_id(&headers).map(str::parse::<usize>) {
        None => 0,
        Some(Ok(n_seen)) => n_seen,
        Some(Err(_)) => {
            return Err(Refusal::senseless("Last-Event-ID is a number of intervals here"));
        }
    };
    let permit = served.intervals.open(place.peer())?;
    let own = Arc::clone(&served);
    let follow = served.work.when_there_is_room(move || {
        let opened = Follower::open(own.results.folder(), &id, n_seen);
        let (follower, head) = opened.map_err(Refusal::absent)?;
        Ok(Follow { follower, head, n_sent: n_seen, _permit: permit })
    });
    let follow = follow.await?;
    let (sender, receiver) = channel(WAITING);
    tokio::task::spawn_blocking(move || {
        follow.run(&sender);
        host::process::give_back_memory();
    });
    let stream = place.begin_stream();
    Ok(answer::response(stream::unfold((receiver, stream), |(mut receiver, stream)| async move {
        let text = receiver.recv().await?;
        Some((text, (receiver, stream)))
    })))
}

/// A result on its way to a browser.
struct Follow {
    follower: Follower,
    /// The result without its trials.
    head: Record,
    n_sent: usize,
    _permit: StreamPermit,
}

impl Follow {
    /// Sends what there is, and then what comes, to the result's end or until nobody listens.
    fn run(mut self, to: &Sender<String>) {
        let began = event("race", None, &about(&self.head).to_string());
        let mut spoken = Instant::now();
        let mut goes_on = send(to, began);
        while goes_on && !to.is_closed() {
            let News { trials, ended } = match self.follower.news() {
                Ok(news) => news,
                Err(why) => {
                    send(to, event("failed", None, &json!(why.to_string()).to_string()));
                    return;
                }
            };
            for some in trials.chunks(AT_ONCE) {
                let lines = some.iter().map(|it| self.interval(it)).collect();
                goes_on = goes_on && send(to, lines);
            }
            if let Some(ended) = ended {
                send(to, event("end", None, &end(&ended).to_string()));
                return;
            }
            if !trials.is_empty() {
                // Of a race that runs for long there is more.
                spoken = Instant::now();
                continue;
            }
            if spoken.elapsed() >= SILENCE {
                spoken = Instant::now();
                goes_on = send(to, sign_of_life());
            }
            std::thread::sleep(LOOK);
        }
    }

    fn interval(&mut self, trial: &Trial) -> String {
        self.n_sent += 1;
        event("interval", Some(&self.n_sent.to_string()), &interval(trial).to_string())
    }
}

/// Waits for a browser that has enough to do; whether it is still there.
fn send(to: &Sender<String>, mut text: String) -> bool {
    let since = Instant::now();
    loop {
        match to.try_send(text) {
            Ok(()) => return true,
            Err(TrySendError::Full(it)) if since.elapsed() < PATIENCE => text = it,
            Err(_) => return false,
        }
        std::thread::sleep(LOOK);
    }
}

/// What a page has to know before the first interval.
fn about(record: &Record) -> Value {
    let columns = race::columns().map(|(name, unit)| json!({ "name": name, "unit": unit }));
    let machines = (0..record.arms.len()).map(|arm| record.machine_of(arm));
    json!({
        "id": record.id,
        "began": record.began,
        "nodes": record.arms.iter().map(|it| &it.name).collect::<Vec<_>>(),
        "about": record.arms.iter().map(|it| json!({ "what": bench::described(it), "about": it.about })).collect::<Vec<_>>(),
        "cpu_models": machines.map(|it| it.cpu_model()).collect::<Vec<_>>(),
        "columns": columns.collect::<Vec<_>>(),
    })
}

/// What a page draws of an interval; no more, as there may be ten a second of each node.
fn interval(trial: &Trial) -> Value {
    let seconds = |ns: Option<&u64>| ns.map(|ns| (*ns as f64 / 1e6).round() / 1e3);
    let mut value = Map::new();
    value.insert("node".to_owned(), json!(trial.arm));
    value.insert("at".to_owned(), json!(seconds(trial.began_ns.value())));
    value.insert("length".to_owned(), json!(seconds(trial.outcome.elapsed_ns.value())));
    let values: Vec<_> = race::values(trial).map(|it| it.and_then(seven_digits)).collect();
    value.insert("values".to_owned(), json!(values));
    if !trial.marks.is_empty() {
        let words: Vec<String> = trial.marks.iter().map(race::mark_words).collect();
        value.insert("marks".to_owned(), json!(words));
    }
    if let Some(why) = &trial.failed {
        value.insert("failed".to_owned(), json!(why));
    }
    value.into()
}

/// As many digits as whoever saves them can use.
fn seven_digits(value: f64) -> Option<f64> {
    if value == 0.0 || !value.is_finite() {
        return Some(value).filter(|it| it.is_finite());
    }
    let factor = 10_f64.powi(6 - value.abs().log10().floor() as i32);
    Some((value * factor).round() / factor)
}

/// What is said at the end, in the words of `fullclock race`.
fn end(ended: &End) -> Value {
    let End::Written(record) = ended else {
        return json!({ "is_complete": false, "verdict": null, "document": null });
    };
    let Said { text, parts } = documents::of(record);
    json!({ "is_complete": record.is_complete, "verdict": text, "document": parts })
}
