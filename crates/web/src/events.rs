//! Server-sent events (HTML Living Standard, 9.2): what a browser goes on behind, and how one is written.

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt};
use report::harmless::harmless_page;
use std::convert::Infallible;
use std::time::Duration;

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
