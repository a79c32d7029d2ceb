//! Exchanges with one service: in time, each with how long it took, and without what has not changed since the last look.

use crate::clock::now;
use crate::http::{Client, Failure, Problem};
use facts::redfish::{Request, Resource};
use serde_json::Value;
use std::collections::BTreeMap;
use std::marker::PhantomData;
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
    requests: Vec<Request>,
    /// Whether a connection may be there that the controller has closed.
    is_connected: bool,
}

/// Why there is no resource.
#[derive(Debug)]
pub(super) enum NoResource {
    /// There was no time left to ask.
    NoTime,
    /// It was asked.
    Failed(Failure),
    /// What came is no resource.
    NotOne,
}

impl NoResource {
    /// Whether all further requests would end the same way.
    pub(super) fn is_for_all(&self) -> bool {
        match self {
            NoResource::NoTime => true,
            NoResource::NotOne => false,
            NoResource::Failed(failure) => match failure.problem {
                Problem::Connect { .. }
                | Problem::Untrusted { .. }
                | Problem::Tls { .. }
                | Problem::Timeout { .. }
                | Problem::Denied { status: 401, .. } => true,
                // A controller that restarts closes connections, and then refuses them.
                _ => false,
            },
        }
    }

    /// In words, without the address of the controller.
    pub(super) fn words(self) -> String {
        match self {
            NoResource::NoTime => {
                "not asked: the time for all requests together was used".to_owned()
            }
            NoResource::NotOne => "the answer is no JSON object".to_owned(),
            NoResource::Failed(failure) => failure.by(CONTROLLER).to_string(),
        }
    }
}

impl<'a> Exchange<'a> {
    pub(super) fn begin(
        client: &'a Client,
        kept: &'a mut Kept,
        deadline: Duration,
    ) -> Exchange<'a> {
        let until = now() + deadline;
        Exchange { client, kept, until, deadline, requests: Vec::new(), is_connected: false }
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
        if began >= self.until {
            return Err(NoResource::NoTime);
        }
        let asked = self.answer(path);
        let (outcome, bytes) = match &asked {
            Ok((_, status, bytes)) => (status.to_string(), *bytes),
            Err(failure) => (outcome(&failure.problem), 0),
        };
        let seconds = began.elapsed().as_secs_f64();
        self.requests.push(Request { path: path.to_owned(), outcome, seconds, bytes });
        asked.map(|(value, ..)| value).map_err(NoResource::Failed)
    }

    fn answer(&mut self, path: &str) -> Result<(Value, u16, u64), Failure> {
        let kept = self.kept.0.get(path);
        let condition = kept.map(|(etag, _)| ("if-none-match", etag.as_str()));
        let headers: Vec<(&'static str, &str)> =
            [Some(ODATA), condition].into_iter().flatten().collect();
        let answer = self.client.get_with(path, &headers, self.until, self.deadline)?;
        let (status, etag) = (answer.status(), answer.etag().map(str::to_owned));
        if let (304, Some((_, value))) = (status, kept) {
            return Ok((value.clone(), status, 0));
        }
        let (mut value, bytes) = answer.json_and_length(PhantomData::<Value>)?;
        mask(&mut value, self.client);
        if let Some(etag) = etag {
            self.kept.0.insert(path.to_owned(), (etag, value.clone()));
        }
        Ok((value, status, bytes))
    }
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
