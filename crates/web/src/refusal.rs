//! Why a request gets nothing, as JSON.
#![expect(clippy::needless_pass_by_value, reason = "made of errors, as map_err hands them over")]

use super::json::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// When to ask again what cannot be answered now, in seconds.
const RETRY_S: &str = "5";

/// What is said instead of an answer.
pub(super) struct Refusal {
    status: StatusCode,
    why: String,
}

impl Refusal {
    /// There is no such thing.
    pub(super) fn absent(why: impl ToString) -> Refusal {
        Refusal { status: StatusCode::NOT_FOUND, why: why.to_string() }
    }

    /// It cannot be asked for like this.
    pub(super) fn senseless(why: impl ToString) -> Refusal {
        Refusal { status: StatusCode::BAD_REQUEST, why: why.to_string() }
    }

    /// It would be answered later.
    pub(super) fn busy(why: impl ToString) -> Refusal {
        Refusal { status: StatusCode::SERVICE_UNAVAILABLE, why: why.to_string() }
    }

    /// This program failed.
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

/// Where nothing else is.
pub(super) async fn nothing_here(uri: Uri) -> Refusal {
    Refusal::absent(format!("there is nothing at {}", uri.path()))
}

/// Where something is that can only be read.
pub(super) async fn only_read() -> Refusal {
    Refusal::of(
        StatusCode::METHOD_NOT_ALLOWED,
        "everything here is read with GET; only a session is made, with POST /api/v1/session",
    )
}
