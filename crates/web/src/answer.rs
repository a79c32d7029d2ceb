//! Answers in JSON, refusals, and server-sent events (HTML Living Standard, 9.2): what a browser goes on behind, and how one is
//! written. Invisible characters are `\u` escapes, as in the output of the command line.

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt};
use report::harmless::harmless_page;
use serde::Serialize;
use serde_json::json;
use std::convert::Infallible;
use std::time::Duration;

/// `Retry-After` of a busy server, in seconds.
const RETRY_S: &str = "5";

/// An error response.
pub(super) struct Refusal {
    status: StatusCode,
    why: String,
}

#[expect(clippy::needless_pass_by_value, reason = "made of errors, as map_err hands them over")]
impl Refusal {
    /// Not found.
    pub(super) fn absent(why: impl ToString) -> Refusal {
        Refusal { status: StatusCode::NOT_FOUND, why: why.to_string() }
    }

    /// The request is malformed.
    pub(super) fn senseless(why: impl ToString) -> Refusal {
        Refusal { status: StatusCode::BAD_REQUEST, why: why.to_string() }
    }

    /// The server is busy; the client may retry.
    pub(super) fn busy(why: impl ToString) -> Refusal {
        Refusal { status: StatusCode::SERVICE_UNAVAILABLE, why: why.to_string() }
    }

    /// An internal error.
    pub(super) fn failed(why: impl ToString) -> Refusal {
        Refusal { status: StatusCode::INTERNAL_SERVER_ERROR, why: why.to_string() }
    }

    pub(super) fn of(status: StatusCode, why: impl ToString) -> Refusal {
        Refusal { status, why: why.to_string() }
    }

    /// The status of the answer.
    pub(super) fn status(&self) -> StatusCode {
        self.status
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = Json(json!({ "error": self.why }));
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            return (self.status, [(RETRY_AFTER, RETRY_S)], body).into_response();
        }
        (self.status, body).into_response()
    }
}

/// The answer for unknown paths.
pub(super) async fn nothing_here(uri: Uri) -> Refusal {
    Refusal::absent(format!("there is nothing at {}", uri.path()))
}

/// The answer for methods other than GET.
pub(super) async fn only_read() -> Refusal {
    Refusal::of(
        StatusCode::METHOD_NOT_ALLOWED,
        "everything here is read with GET; only a session is made, with POST /api/v1/session",
    )
}

/// An answer serialised from a value.
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_string(&self.0) {
            Ok(text) => written(&text),
            Err(error) => Refusal::failed(error).into_response(),
        }
    }
}

/// An answer from text that is JSON already.
pub(super) fn written(text: &str) -> Response {
    ([(CONTENT_TYPE, "application/json")], harmless_page(text).into_owned()).into_response()
}

/// How long a browser waits before it connects again, in milliseconds.
const RETRY: &str = "retry: 1000\n\n";

/// How often a browser hears that there is nothing new.
pub(super) const SILENCE: Duration = Duration::from_secs(15);

/// What is sent where nothing happens, so that a connection which is dead is found to be: by us, and by a script, which sees
/// no comments.
pub(super) fn sign_of_life() -> String {
    event("alive", None, "null")
}

/// An event as it is sent. `data` is JSON in one line, escaped as other answers are.
pub(super) fn event(name: &str, id: Option<&str>, data: &str) -> String {
    let id = id.map_or_else(String::new, |it| format!("id: {it}\n"));
    format!("event: {name}\n{id}data: {}\n\n", harmless_page(data))
}

/// Where a browser that lost its connection was.
pub(super) fn last_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id")?.to_str().ok()
}

/// An answer that lasts. What is not taken is not made: the stream waits.
pub(super) fn response(events: impl Stream<Item = String> + Send + 'static) -> Response {
    let begin = futures_util::stream::iter([RETRY.to_owned()]);
    let bytes = begin.chain(events).map(|it| Ok::<_, Infallible>(Bytes::from(it)));
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(bytes)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_escaped_and_means_the_same() {
        let name = "db\u{202e}7\u{200b}\u{7f}";
        let response = Json(name).into_response();
        assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let body = runtime.block_on(axum::body::to_bytes(response.into_body(), 100)).unwrap();
        assert_eq!(body, r#""db\u202e7\u200b\u007f""#);
        assert_eq!(serde_json::from_slice::<String>(&body).unwrap(), name);
    }
}
