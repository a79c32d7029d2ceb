//! What an audit of this machine finds, made when somebody asks.
#![expect(clippy::disallowed_methods, reason = "an audit grows old")]

use super::Served;
use super::answer::{Json, Refusal};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use facts::baseline::{Baseline, Standing};
use facts::{Missing, utc};
use host::Live;
use report::Style;
use report::document::Format;
use report::json::Head;
use report::metrics::Findings;
use rules::config::Config;
use rules::host_labels::host_labels;
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
    /// The latest one, for who does not wait for another.
    made: Mutex<Option<Arc<Audited>>>,
}

/// An audit, and when it was made.
type Latest = (Instant, Arc<Audited>);

/// What an audit found.
pub(super) struct Audited {
    /// What a monitoring system is told of it.
    pub(super) findings: Findings,
    /// How fast the machine is compared with its earlier boots.
    pub(super) baseline: Option<Standing>,
    /// What the machine was then: its governor may be another one by now.
    pub(super) host: Vec<(&'static str, String)>,
    verdict: String,
    text: String,
    json: Value,
}

impl Audits {
    /// Audits by the configuration of the site.
    pub(super) fn new(config: Config) -> Audits {
        Audits { config, latest: Mutex::default(), made: Mutex::default() }
    }

    /// An audit that is no older than that. It may take a second; whoever else wants one waits for the same.
    ///
    /// Errors: it cannot be written as JSON.
    fn no_older_than(&self, age: Duration) -> Result<Arc<Audited>, Refusal> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(self.kept(renewed(&mut latest, age, &self.config)?))
    }

    /// The one that metrics are made of: while another one is being made the one before, for which nothing waits; none where there is none.
    pub(super) fn latest(&self) -> Option<Arc<Audited>> {
        match self.latest.try_lock() {
            Ok(mut latest) => Some(self.kept(renewed(&mut latest, FRESH, &self.config).ok()?)),
            Err(_) => self.made.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    fn kept(&self, audited: Arc<Audited>) -> Arc<Audited> {
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&audited));
        audited
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
        findings: Findings::of(&audit),
        baseline: host.baseline.as_ref().ok().and_then(Baseline::of_this_boot).cloned(),
        host: host_labels(&host, &Err(Missing::not_collected("the controller's firmware"))),
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
