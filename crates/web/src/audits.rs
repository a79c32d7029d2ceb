//! What an audit of this machine finds, made when somebody asks.
#![expect(clippy::disallowed_methods, reason = "an audit grows old")]

use super::Served;
use super::answer::{Json, Refusal};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use facts::{Obstacle, utc};
use host::Live;
use report::Style;
use report::document::Format;
use report::json::Head;
use rules::config::Config;
use rules::diagnosis::{self, Chain};
use rules::finding::{Moment, Severity};
use rules::party::Party;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// An audit reads the whole host, a second of a large one: it is not made again for everybody who looks.
const FRESH: Duration = Duration::from_secs(60);

/// Who asks for a new one gets one that is no older.
const NEW: Duration = Duration::from_secs(2);

pub(super) struct Audits {
    config: Config,
    latest: Mutex<Option<Latest>>,
}

/// An audit, and when it was made.
type Latest = (Instant, Arc<Audited>);

/// What an audit found.
pub(super) struct Audited {
    /// Its findings: checks with their severities.
    pub(super) findings: Vec<(&'static str, Severity)>,
    /// The same of those that the configuration suppresses.
    pub(super) suppressed: Vec<(&'static str, Severity)>,
    /// What kept each check from being made that could not be.
    pub(super) unknown: Vec<Obstacle>,
    /// What the chains of its diagnosis take.
    pub(super) chains: Vec<Taken>,
    verdict: String,
    text: String,
    json: Value,
}

/// What a chain of a diagnosis takes.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    /// The check that found the cause, or the sign where the cause is unknown.
    pub(super) check: &'static str,
    /// What is lost: clock, turbo, time.
    pub(super) lost: &'static str,
    /// Whose the cause is; `unknown` where that is not seen.
    pub(super) party: &'static str,
    /// The share of each CPU concerned, 0 to 1.
    pub(super) share: f64,
}

impl Taken {
    /// Of what was in force when the host was read, and takes a known share.
    fn by(chain: &Chain<'_>) -> Option<Taken> {
        let is_live = chain.moment() == Moment::Now;
        Some(Taken {
            check: chain.links().next()?.check.id,
            lost: chain.of().name(),
            party: chain.party().map_or("unknown", Party::name),
            share: chain.loss().filter(|_| is_live)?.share,
        })
    }
}

impl Audits {
    /// Audits by the configuration of the site.
    pub(super) fn new(config: Config) -> Audits {
        Audits { config, latest: Mutex::default() }
    }

    /// An audit that is no older than that. It may take a second; whoever else wants one waits for the same.
    ///
    /// Errors: it cannot be written as JSON.
    fn no_older_than(&self, age: Duration) -> Result<Arc<Audited>, Refusal> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        renewed(&mut latest, age, &self.config)
    }

    /// The one that figures are made of; none where it cannot be made, or is being made: nobody waits for it here.
    pub(super) fn latest(&self) -> Option<Arc<Audited>> {
        renewed(&mut *self.latest.try_lock().ok()?, FRESH, &self.config).ok()
    }
}

/// The latest audit, made anew where it is older than that.
fn renewed(
    latest: &mut Option<Latest>,
    age: Duration,
    config: &Config,
) -> Result<Arc<Audited>, Refusal> {
    if let Some((made, audited)) = latest
        && made.elapsed() < age
    {
        return Ok(Arc::clone(audited));
    }
    let audited = Arc::new(audited(config)?);
    *latest = Some((Instant::now(), Arc::clone(&audited)));
    Ok(audited)
}

#[cfg(test)]
impl Audited {
    /// Made up of its findings.
    pub(super) fn of(findings: Vec<(&'static str, Severity)>, unknown: Vec<Obstacle>) -> Audited {
        Audited {
            findings,
            suppressed: vec![("turbo-off", Severity::Medium)],
            unknown,
            chains: vec![
                Taken { check: "clock-modulation", lost: "clock", party: "firmware", share: 0.75 },
                Taken { check: "clock-modulation", lost: "clock", party: "firmware", share: 0.5 },
            ],
            verdict: String::new(),
            text: String::new(),
            json: Value::Null,
        }
    }
}

/// The management controller is left alone: an audit is made each minute here, whether anybody reads it or not.
fn audited(config: &Config) -> Result<Audited, Refusal> {
    let source = Live::this_machine();
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let since_1970_ns = u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX);
    let (began, today) = (utc::timestamp(since_1970_ns), utc::date(since_1970_ns));
    let head = Head { host: source.host_name(), began };
    let mut host = host::view(&source);
    let audit = engine::advised::audit_of_site(&source, &mut host, config, &today);
    let detail = report::audit::Detail { quiet: false, verbose: false };
    let text = Format::Text(Style { color: false, width: 100 });
    let json = report::json::audit(&head, &host, &audit).map_err(Refusal::failed)?;
    Ok(Audited {
        findings: audit.findings.iter().map(|(check, it)| (check.id, it.severity)).collect(),
        suppressed: audit.suppressed.iter().map(|it| (it.check.id, it.finding.severity)).collect(),
        unknown: audit.unknown.iter().map(|(_, missing)| missing.obstacle()).collect(),
        chains: diagnosis::chains(&audit).iter().filter_map(Taken::by).collect(),
        verdict: report::audit::verdict(&host, &audit),
        text: report::audit::document("this machine", &host, &audit, detail).render(text),
        json: serde_json::from_str(&json).map_err(Refusal::failed)?,
    })
}

/// How an audit is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// Whether it has to be made anew.
    #[serde(default)]
    again: bool,
}

/// `/api/v1/audit`: the words of `fullclock audit`, and `schemas/audit-2.json`.
pub(super) async fn show(
    State(served): State<Arc<Served>>,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(asked) = asked.map_err(Refusal::senseless)?;
    let age = if asked.again { NEW } else { FRESH };
    let own = Arc::clone(&served);
    let audited = served.work.when_there_is_room(move || own.audits.no_older_than(age)).await?;
    Ok(Json(json!({ "verdict": audited.verdict, "text": audited.text, "audit": audited.json })))
}
