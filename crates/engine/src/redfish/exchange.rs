//! Exchanges with one service: in time, each with how long it took, and without what has not changed since the last look.

use crate::clock::now;
use crate::http::{Client, Failure, Problem};
use crate::interrupt::unless_stopped;
use facts::redfish::{Request, Resource};
use serde_json::Value;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Answers by their paths, with their versions.
#[derive(Debug, Default)]
pub(super) struct Kept(BTreeMap<String, (String, Value)>);

/// The protocol's version (DSP0266, "Request headers").
const ODATA: (&str, &str) = ("odata-version", "4.0");

/// The exchanges of one look.
pub(super) struct Exchange<'a> {
    client: &'a Client,
    kept: &'a mut Kept,
    until: Instant,
    deadline: Duration,
    /// Set once the user wants to stop.
    stop: Option<&'a AtomicBool>,
    requests: Vec<Request>,
    /// Whether a connection may be there that the controller has closed.
    is_connected: bool,
}

/// Why there is no resource.
#[derive(Debug)]
pub(super) enum NoResource {
    /// There was no time left to ask, of so much for all requests together.
    NoTime(Duration),
    /// It was asked, and there was no answer in what was left of the time for all requests together.
    Late {
        /// What was left.
        left: Duration,
        /// The time for all.
        of: Duration,
    },
    /// The user wanted to stop.
    Stopped,
    /// It was asked.
    Failed(Failure),
    /// What came is no resource.
    NotOne,
}

impl NoResource {
    /// Why there is none, in words without the address of the controller; and why nothing else is asked for, where all further requests would
    /// end the same way.
    pub(super) fn words(self) -> (String, Option<String>) {
        let used = |of: Duration| {
            format!("not asked: the {} s for all requests together were used up", of.as_secs_f64())
        };
        match self {
            NoResource::NoTime(of) => (used(of), Some(used(of))),
            NoResource::Late { left, of } => {
                let (left, all) = (left.as_secs_f64(), of.as_secs_f64());
                let words = format!(
                    "no answer in the {left:.1} s that were left of {all} s for all requests together"
                );
                (words, Some(used(of)))
            }
            NoResource::Stopped => (
                "no answer before Ctrl-C".to_owned(),
                Some("not asked: Ctrl-C came before".to_owned()),
            ),
            NoResource::NotOne => ("the answer is no JSON object".to_owned(), None),
            NoResource::Failed(failure) => {
                let is_for_all = is_for_all(&failure.problem);
                let words = failure.by(CONTROLLER).to_string();
                let others = is_for_all.then(|| format!("not asked, as {words}"));
                (words, others)
            }
        }
    }
}

/// Whether all further requests would fail as well.
fn is_for_all(problem: &Problem) -> bool {
    match problem {
        Problem::Connect { .. }
        | Problem::Untrusted { .. }
        | Problem::Tls { .. }
        | Problem::Timeout { .. }
        | Problem::Denied { status: 401, .. } => true,
        // A controller that restarts closes connections, and then refuses them.
        _ => false,
    }
}

impl<'a> Exchange<'a> {
    pub(super) fn begin(
        client: &'a Client,
        kept: &'a mut Kept,
        deadline: Duration,
        stop: Option<&'a AtomicBool>,
    ) -> Exchange<'a> {
        let until = now() + deadline;
        let requests = Vec::new();
        Exchange { client, kept, until, deadline, stop, requests, is_connected: false }
    }

    /// What the user sets by this name.
    pub(super) fn option(&self, name: &str) -> String {
        self.client.named().of(name)
    }

    /// What has been requested so far.
    pub(super) fn into_requests(self) -> Vec<Request> {
        self.requests
    }

    /// How many requests there were.
    pub(super) fn count(&self) -> usize {
        self.requests.len()
    }

    /// The resource at `path`, which may end with a query. `may_repeat` says whether a second request may be sent for it.
    pub(super) fn get(&mut self, path: &str, may_repeat: bool) -> Result<Resource, NoResource> {
        let value = match self.ask(path) {
            // The controller may have closed a connection that was kept: that is no failure of its own.
            Err(NoResource::Failed(Failure { problem: Problem::Broken { .. }, .. }))
                if std::mem::take(&mut self.is_connected) && may_repeat =>
            {
                self.ask(path)
            }
            asked => asked,
        }?;
        self.is_connected = true;
        Resource::of(path.split('?').next().unwrap_or(path), value).map_err(|_| NoResource::NotOne)
    }

    fn ask(&mut self, path: &str) -> Result<Value, NoResource> {
        let began = now();
        let left = self.until.saturating_duration_since(began);
        if left.is_zero() {
            return Err(NoResource::NoTime(self.deadline));
        }
        let asked = self.answer(path);
        let (outcome, bytes) = match &asked {
            None => ("stopped".to_owned(), 0),
            Some(Ok(answer)) => (answer.status.to_string(), answer.bytes),
            Some(Err(failure)) => (outcome(&failure.problem), 0),
        };
        let seconds = began.elapsed().as_secs_f64();
        let is_first = self.requests.is_empty();
        self.requests.push(Request { path: path.to_owned(), outcome, seconds, bytes });
        match asked.ok_or(NoResource::Stopped)? {
            // The first one had all of the time.
            Err(Failure { problem: Problem::Timeout { .. }, .. }) if !is_first => {
                Err(NoResource::Late { left, of: self.deadline })
            }
            Err(failure) => Err(NoResource::Failed(failure)),
            Ok(answer) => Ok(self.kept(path, answer)),
        }
    }

    /// `None` once the user wants to stop.
    fn answer(&self, path: &str) -> Option<Result<Answered, Failure>> {
        let etag = self.kept.0.get(path).map(|(etag, _)| etag.clone());
        let (client, path) = (self.client.clone(), path.to_owned());
        let (until, deadline) = (self.until, self.deadline);
        unless_stopped(self.stop, move || {
            answered(&client, &path, etag.as_deref(), until, deadline)
        })
    }

    /// What was answered, or the answer before where nothing has changed since.
    fn kept(&mut self, path: &str, answer: Answered) -> Value {
        let Answered { etag, value, .. } = answer;
        let Some(mut value) = value else {
            return self.kept.0.get(path).map_or(Value::Null, |(_, value)| value.clone());
        };
        mask(&mut value, self.client);
        if let Some(etag) = etag {
            self.kept.0.insert(path.to_owned(), (etag, value.clone()));
        }
        value
    }
}

/// An answer that was read.
struct Answered {
    status: u16,
    etag: Option<String>,
    /// `None` where it is the one that is kept.
    value: Option<Value>,
    bytes: u64,
}

/// The answer of the controller; `etag` is the version of the one that is kept.
fn answered(
    client: &Client,
    path: &str,
    etag: Option<&str>,
    until: Instant,
    deadline: Duration,
) -> Result<Answered, Failure> {
    let condition = etag.map(|it| ("if-none-match", it));
    let headers: Vec<(&'static str, &str)> =
        [Some(ODATA), condition].into_iter().flatten().collect();
    let answer = client.get_with(path, &headers, until, deadline)?;
    let (status, version) = (answer.status(), answer.etag().map(str::to_owned));
    if status == 304 && etag.is_some() {
        return Ok(Answered { status, etag: None, value: None, bytes: 0 });
    }
    let (value, bytes) = answer.json_and_length(PhantomData::<Value>)?;
    Ok(Answered { status, etag: version, value: Some(value), bytes })
}

/// How messages name a controller, before its address.
pub(super) const CONTROLLER: &str = "the controller";

/// A resource by itself, and its version (ETag). Secrets are masked in it.
///
/// Errors: why there is none.
pub(super) fn resource(client: &Client, path: &str) -> Result<(Resource, Option<String>), String> {
    let failed = |it: Failure| it.by(CONTROLLER).to_string();
    let answer = client.get_with(path, &[ODATA], client.until(), client.deadline());
    let answer = answer.map_err(failed)?;
    let etag = answer.etag().map(str::to_owned);
    let mut value = answer.json(PhantomData::<Value>).map_err(failed)?;
    mask(&mut value, client);
    let of_body = || Some(value.get("@odata.etag")?.as_str()?.to_owned());
    let etag = etag.or_else(of_body).filter(|it| !it.contains(char::is_control));
    let resource = Resource::of(path, value).map_err(|it| format!("{path}: not {}", it.0))?;
    Ok((resource, etag))
}

/// A controller may repeat what it was sent, in whatever spelling of JSON.
fn mask(value: &mut Value, client: &Client) {
    match value {
        Value::String(text) => *text = client.masked(text),
        Value::Array(items) => items.iter_mut().for_each(|it| mask(it, client)),
        Value::Object(map) => {
            let masked = std::mem::take(map).into_iter().map(|(name, mut value)| {
                mask(&mut value, client);
                (client.masked(&name), value)
            });
            *map = masked.collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// In a few words, for a table.
fn outcome(problem: &Problem) -> String {
    match problem {
        Problem::Denied { status, .. }
        | Problem::Refused { status, .. }
        | Problem::Failed { status, .. } => status.to_string(),
        Problem::NotFound { .. } => "404".to_owned(),
        Problem::Address { .. } => "no URL".to_owned(),
        Problem::Certificates { .. } | Problem::Untrusted { .. } => "not trusted".to_owned(),
        Problem::Connect { .. } => "no connection".to_owned(),
        Problem::Tls { .. } => "no TLS".to_owned(),
        Problem::Timeout { .. } => "no answer in time".to_owned(),
        Problem::Redirected { .. } => "sent elsewhere".to_owned(),
        Problem::TooLarge { .. } => "too large".to_owned(),
        Problem::NotJson { .. } => "no JSON".to_owned(),
        Problem::Broken { .. } => "broken off".to_owned(),
    }
}
