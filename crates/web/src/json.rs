//! Answers in JSON, escaped as the command line's are: what no reader would see stands in them as `\u` escapes.

use super::refusal::Refusal;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use report::harmless::harmless_page;
use serde::Serialize;

/// An answer that is made of this.
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_string(&self.0) {
            Ok(text) => written(&text),
            Err(error) => Refusal::failed(error).into_response(),
        }
    }
}

/// An answer that is JSON already.
pub(super) fn written(text: &str) -> Response {
    ([(CONTENT_TYPE, "application/json")], harmless_page(text).into_owned()).into_response()
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
