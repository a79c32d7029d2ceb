//! An answer: read once, within its bounds.

use super::failure::{Failure, Problem};
use super::pieces::Pieces;
use super::{Client, Response};
use serde::de::DeserializeSeed;
use serde_json::error::Category;
use std::io::{self, BufReader, Read};
use std::time::Duration;
use ureq::{Body, BodyReader};

/// What a server answered, whose body is yet to be read.
pub struct Answer<'a> {
    client: &'a Client,
    status: u16,
    etag: Option<String>,
    location: Option<String>,
    retry_after: Option<String>,
    deadline: Duration,
    body: Body,
}

/// Of the words with which a server refuses.
const LARGEST_REFUSAL: u64 = 64 << 10;

/// Characters of them that are shown.
const SHOWN: usize = 400;

/// Bytes of what is not JSON that are shown.
const BEGINNING: usize = 60;

/// Bytes of it that are kept: a secret that begins in what is shown ends in them.
const KEPT: usize = BEGINNING + super::credentials::LARGEST;

impl<'a> Answer<'a> {
    pub(super) fn new(
        client: &'a Client,
        response: Response<Body>,
        deadline: Duration,
    ) -> Answer<'a> {
        let status = response.status().as_u16();
        let header = |name: &str| {
            let value = response.headers().get(name).and_then(|it| it.to_str().ok());
            value.map(str::to_owned)
        };
        let (etag, location) = (header("etag"), header("location"));
        let retry_after = header("retry-after");
        Answer { client, status, etag, location, retry_after, deadline, body: response.into_body() }
    }

    /// The status: 2xx, or 304 where the request was on condition that something has changed.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The version of what was answered (RFC 9110, 8.8.3).
    pub fn etag(&self) -> Option<&str> {
        self.etag.as_deref()
    }

    /// What was made of the request and can be asked after: a task, in one line and without secrets.
    pub fn location(&self) -> Option<String> {
        self.location.as_deref().map(|it| shortened(&self.client.masked(it)))
    }

    /// The server's words about the request, without secrets; empty where it has none.
    pub fn words(self) -> String {
        let Answer { client, body, .. } = self;
        told(client, body)
    }

    /// What `seed` makes of the body, which is JSON. It is parsed as it comes, so that it is never in memory as a whole.
    ///
    /// Errors: it does not come in time, is larger than the bound, ends early, or is not what `seed` takes.
    pub fn json<'de, S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Failure> {
        self.json_and_length(seed).map(|(value, _)| value)
    }

    /// The same, and how many bytes the body has after unpacking.
    ///
    /// Errors: those of [`Answer::json`].
    pub fn json_and_length<'de, S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, u64), Failure> {
        let Answer { client, body, deadline, .. } = self;
        let mut watched = Watched::of(client, body);
        let parsed = {
            let reader = BufReader::with_capacity(64 << 10, &mut watched);
            let mut json = serde_json::Deserializer::from_reader(reader);
            seed.deserialize(&mut json).and_then(|value| json.end().map(|()| value))
        };
        let length = watched.length;
        watched.explained(parsed, client, deadline).map(|value| (value, length))
    }

    /// What `take` makes of a body that is a long list: it takes all of it, value by value.
    ///
    /// Errors: those of [`Answer::json`].
    pub(crate) fn pieces<T>(
        self,
        take: impl FnOnce(&mut Pieces<'_>) -> serde_json::Result<T>,
    ) -> Result<T, Failure> {
        let Answer { client, body, deadline, .. } = self;
        let mut watched = Watched::of(client, body);
        let mut pieces = Pieces::new(&mut watched);
        let parsed = take(&mut pieces).and_then(|value| pieces.end().map(|()| value));
        watched.explained(parsed, client, deadline)
    }

    /// Why it is no success.
    pub(super) fn refusal(self, url: &str) -> Failure {
        let Answer { client, status, body, retry_after, .. } = self;
        let told = told(client, body);
        let again = retry_after.map(|it| when(&shortened(&client.masked(&it))));
        let given = client.options.credentials.option();
        client.fail(match status {
            401 | 403 => Problem::Denied { status, told, given },
            404 => {
                let path = url.split('?').next().unwrap_or(url);
                let server = client.address.to_string();
                Problem::NotFound { path: path.strip_prefix(&server).unwrap_or(path).to_owned() }
            }
            400..500 => Problem::Refused { status, told, again },
            _ => Problem::Failed { status, told, again },
        })
    }
}

/// When a server wants to be asked again: `Retry-After` is a number of seconds, or a date (RFC 9110, 10.2.3).
fn when(retry_after: &str) -> String {
    match retry_after.parse::<u32>() {
        Ok(seconds) => format!("in {seconds} s"),
        Err(_) => format!("after {retry_after}"),
    }
}

/// A server's words about a request.
fn told(client: &Client, body: Body) -> String {
    let mut bytes = Vec::new();
    let mut reader = body.into_with_config().limit(LARGEST_REFUSAL).reader();
    // What has come of it is all that can be shown.
    reader.read_to_end(&mut bytes).ok();
    // A secret can be spelled with escapes in JSON, and cut in what is shown.
    let told = message(&client.masked(&String::from_utf8_lossy(&bytes)));
    client.masked(&told)
}

/// Where servers put their words in JSON.
const WORDS: [&str; 3] = ["/error", "/message", "/error/message"];

/// Where Redfish has its messages (DSP0266, "Error responses"), in a refusal and in other answers.
const MESSAGES: [&str; 2] = ["/error/@Message.ExtendedInfo", "/@Message.ExtendedInfo"];

/// Messages that are shown: a request of two settings has some.
const MOST_MESSAGES: usize = 3;

/// What a server says of a failure: its words in a JSON object, or the first line of a text that is no page.
fn message(text: &str) -> String {
    let json = serde_json::from_str::<serde_json::Value>(text).ok();
    let of_json = json.and_then(|it| {
        let messages = MESSAGES.iter().find_map(|place| it.pointer(place)?.as_array());
        let mut said: Vec<&str> = Vec::new();
        for message in messages.into_iter().flatten() {
            let message = message.get("Message").and_then(|it| it.as_str());
            said.extend(message.filter(|it| !said.contains(it)));
        }
        said.truncate(MOST_MESSAGES);
        let found = || WORDS.iter().find_map(|place| it.pointer(place)?.as_str());
        if said.is_empty() { found().map(str::to_owned) } else { Some(said.join(" ")) }
    });
    let line = || {
        let line = text.lines().map(str::trim).find(|it| !it.is_empty()).unwrap_or_default();
        if line.starts_with(['<', '{']) { String::new() } else { line.to_owned() }
    };
    shortened(&of_json.unwrap_or_else(line))
}

/// In one line, without control characters, and not too long.
pub(crate) fn shortened(text: &str) -> String {
    let text = text.trim().replace(char::is_control, " ");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// A reader that remembers how its text begins, how long it is, and the error that ended it.
struct Watched<R> {
    inner: R,
    beginning: Vec<u8>,
    length: u64,
    error: Option<io::Error>,
}

impl Watched<BodyReader<'static>> {
    fn of(client: &Client, body: Body) -> Self {
        let inner = body.into_with_config().limit(client.options.largest).reader();
        Watched { inner, beginning: Vec::new(), length: 0, error: None }
    }
}

impl<R> Watched<R> {
    /// What was parsed, or why it could not be.
    fn explained<T>(
        mut self,
        parsed: serde_json::Result<T>,
        client: &Client,
        deadline: Duration,
    ) -> Result<T, Failure> {
        parsed.map_err(|error| match self.error.take() {
            Some(error) => client.failed(error.into(), deadline, true),
            None if error.classify() == Category::Eof => {
                client.fail(Problem::Broken { why: format!("it ends early ({error})") })
            }
            None => {
                // Masked before it is cut: what is left of a secret is one, too.
                let begins = client.masked(&String::from_utf8_lossy(&self.beginning));
                let begins = begins.chars().take(BEGINNING).collect();
                client.fail(Problem::NotJson {
                    begins,
                    why: shortened(&client.masked(&error.to_string())),
                })
            }
        })
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buffer) {
            Ok(n) => {
                let more = KEPT.saturating_sub(self.beginning.len()).min(n);
                self.beginning.extend_from_slice(&buffer[..more]);
                self.length += n as u64;
                Ok(n)
            }
            Err(error) => {
                self.error = Some(error);
                Err(io::Error::other("the answer cannot be read on"))
            }
        }
    }
}
