//! Which machines of a fleet are slow, asked of Prometheus when somebody looks.
//!
//! Whoever made [`Fleet`] knows the address and the token; here there is only the question. It waits for another server, up to the
//! deadline of that, so that it has room of its own and keeps no other answer from being made.
#![expect(clippy::disallowed_methods, reason = "an answer grows old")]

use super::Served;
use super::answer::{Json, Refusal};
use super::work::Work;
use anyhow::Result;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use engine::clock::since_1970_ns;
use facts::utc;
use fleet::{Answer, Machine};
use report::Style;
use report::document::Format;
use report::fleet::{Reader, Report};
use report::json::Head;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A fleet that can be asked.
pub struct Fleet {
    /// Where its machines come from, in a few words, without secrets.
    pub source: String,
    /// Asks, which takes seconds.
    pub ask: Box<dyn Fn() -> Result<Judged> + Send + Sync>,
}

/// What was asked.
pub struct Judged {
    /// The machines.
    pub machines: Vec<Machine>,
    /// What is said of them.
    pub answer: Answer,
    /// What has to be said of the source.
    pub notes: Vec<String>,
}

/// A query reads the figures of the whole fleet: it is not made again for everybody who looks.
const FRESH: Duration = Duration::from_secs(60);

/// Who asks for a new one gets one that is no older.
const NEW: Duration = Duration::from_secs(2);

/// A failure is kept as long, also for who asks for a new answer: an engine that is down or slow takes half a minute to fail, and those who
/// waited for it meet the same failure.
const FAILED: Duration = Duration::from_secs(10);

pub(super) struct Fleets {
    fleet: Option<Fleet>,
    work: Work,
    /// The lock is held while the engine is asked: one query at a time.
    latest: Mutex<Option<Latest>>,
}

/// What the engine was asked last.
struct Latest {
    ended: Instant,
    /// The answer, or the words of the failure.
    outcome: Result<Arc<Shown>, String>,
}

impl Latest {
    /// Whether it may be shown where an answer may be so old.
    fn is_fresh(&self, age: Duration) -> bool {
        self.ended.elapsed() < if self.outcome.is_ok() { age } else { FAILED }
    }

    fn shown(&self) -> Result<Arc<Shown>, Refusal> {
        let refused = |why: &String| Refusal::of(StatusCode::BAD_GATEWAY, why);
        self.outcome.as_ref().map(Arc::clone).map_err(refused)
    }
}

/// An answer as it is shown.
struct Shown {
    began: String,
    verdict: Value,
    text: String,
    json: Value,
    parts: Value,
}

impl Fleets {
    /// Of the fleet that the server was given, if any.
    pub(super) fn new(fleet: Option<Fleet>) -> Fleets {
        Fleets { fleet, work: Work::default(), latest: Mutex::default() }
    }

    /// Whether there is one to ask.
    pub(super) fn has_one(&self) -> bool {
        self.fleet.is_some()
    }

    /// An answer that is no older than that. Whoever else wants one waits for the same.
    ///
    /// Errors: the server was given no Prometheus; it gave no answer.
    fn no_older_than(&self, age: Duration, head: &Head) -> Result<Arc<Shown>, Refusal> {
        let Some(fleet) = &self.fleet else {
            let why = "this server was given no Prometheus: `fullclock serve --prometheus URL`";
            return Err(Refusal::absent(why));
        };
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(latest) = latest.as_ref().filter(|it| it.is_fresh(age)) {
            return latest.shown();
        }
        let began = utc::timestamp(since_1970_ns());
        let outcome = match (fleet.ask)() {
            Ok(judged) => Ok(Arc::new(shown(fleet, head, began, &judged)?)),
            Err(error) => Err(format!("{error:#}")),
        };
        latest.insert(Latest { ended: Instant::now(), outcome }).shown()
    }
}

fn shown(fleet: &Fleet, head: &Head, began: String, judged: &Judged) -> Result<Shown, Refusal> {
    let head = Head { began: began.clone(), ..head.clone() };
    let Judged { machines, answer, notes } = judged;
    let report = Report {
        source: &fleet.source,
        machines,
        answer,
        skipped: &[],
        notes,
        all: false,
        reader: Reader::Page,
    };
    let document = report::fleet::document(&report);
    let json = report::fleet::json::json(&head, &report).map_err(Refusal::failed)?;
    let parts = document.parts();
    Ok(Shown {
        began,
        verdict: parts["verdict"].clone(),
        text: document.render(Format::Text(Style { color: false, width: 100 })),
        json: serde_json::from_str(&json).map_err(Refusal::failed)?,
        parts,
    })
}

/// How a fleet is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// Whether Prometheus has to be asked anew.
    #[serde(default)]
    again: bool,
}

async fn asked(
    served: Arc<Served>,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Arc<Shown>, Refusal> {
    let Query(asked) = asked.map_err(Refusal::senseless)?;
    let age = if asked.again { NEW } else { FRESH };
    let own = Arc::clone(&served);
    let work = move || own.fleets.no_older_than(age, &own.machine.head());
    served.fleets.work.when_there_is_room(work).await
}

/// `/api/v1/fleet`: the words of `fullclock fleet`, and `schemas/fleet-1.json`.
pub(super) async fn show(
    State(served): State<Arc<Served>>,
    again: Result<Query<Asked>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Shown { verdict, text, json, .. } = &*asked(served, again).await?;
    Ok(Json(json!({ "verdict": verdict, "text": text, "fleet": json })))
}

/// `/api/v1/fleet/document`: the same in parts.
pub(super) async fn document(
    State(served): State<Arc<Served>>,
    again: Result<Query<Asked>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Shown { began, parts, .. } = &*asked(served, again).await?;
    Ok(Json(json!({ "began": began, "document": parts })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;
    use fleet::Figure;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn head() -> Head {
        Head { host: "db7".to_owned(), began: String::new() }
    }

    fn fleets(ask: impl Fn() -> Result<Judged> + Send + Sync + 'static) -> Fleets {
        let source = "http://prom:9090".to_owned();
        Fleets::new(Some(Fleet { source, ask: Box::new(ask) }))
    }

    fn nothing() -> Judged {
        let answer = Answer {
            figure: Figure::Clock,
            peers_by: vec![],
            machines: 0,
            silent: vec![],
            unusable: vec![],
            namesakes: 0,
            searched: 0,
            contrasts: vec![],
            minorities: vec![],
            groups: vec![],
            slow: vec![],
            suspects: vec![],
            explanations: vec![],
            false_share: 0.01,
            tested: 0,
        };
        Judged { machines: vec![], answer, notes: vec![] }
    }

    #[test]
    fn an_answer_is_kept_for_who_asks_soon_after() {
        let n = Arc::new(AtomicUsize::new(0));
        let own = Arc::clone(&n);
        let fleets = fleets(move || {
            own.fetch_add(1, Ordering::Relaxed);
            Ok(nothing())
        });
        let shown = fleets.no_older_than(FRESH, &head()).ok().unwrap();
        assert_eq!(
            (&shown.verdict, &shown.json["host"]),
            (&json!("No machine was found."), &json!("db7"))
        );
        assert!(fleets.no_older_than(NEW, &head()).is_ok());
        assert_eq!(n.load(Ordering::Relaxed), 1);
        assert!(fleets.no_older_than(Duration::ZERO, &head()).is_ok());
        assert_eq!(n.load(Ordering::Relaxed), 2);
    }

    /// Five who look at once, and one who asks again right after: the engine fails once for all of them.
    #[test]
    fn who_waits_for_an_engine_that_fails_does_not_ask_it_again() {
        let n = Arc::new(AtomicUsize::new(0));
        let own = Arc::clone(&n);
        let (all_wait, is_over) = std::sync::mpsc::channel::<()>();
        let is_over = Mutex::new(is_over);
        let fleets = fleets(move || {
            own.fetch_add(1, Ordering::Relaxed);
            // It fails once all of them are there: the channel is closed then.
            is_over.lock().unwrap().recv().ok();
            bail!("http://prom:9090 gave no answer in 30 s")
        });
        let began = std::sync::Barrier::new(6);
        std::thread::scope(|scope| {
            for _ in 0..5 {
                scope.spawn(|| {
                    began.wait();
                    let refused = fleets.no_older_than(FRESH, &head()).err().unwrap();
                    assert_eq!(refused.status(), StatusCode::BAD_GATEWAY);
                });
            }
            began.wait();
            drop(all_wait);
        });
        assert!(fleets.no_older_than(NEW, &head()).is_err());
        assert_eq!(n.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_prometheus_that_does_not_answer_is_no_error_of_this_server() {
        let fleets = fleets(|| bail!("http://prom:9090 gave no answer in 30 s"));
        let refused = fleets.no_older_than(FRESH, &head()).err().unwrap();
        assert_eq!(refused.status(), StatusCode::BAD_GATEWAY);
        let none = Fleets::new(None);
        let refused = none.no_older_than(FRESH, &head()).err().unwrap();
        assert_eq!((refused.status(), none.has_one()), (StatusCode::NOT_FOUND, false));
    }
}
