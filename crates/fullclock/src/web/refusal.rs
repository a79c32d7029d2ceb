//! Why a request gets nothing, as JSON.
#![expect(clippy::needless_pass_by_value, reason = "made of errors, as map_err hands them over")]

use axum::Json;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::json;

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

    /// Whoever asks is not let in.
    pub(super) fn of(status: StatusCode, why: impl ToString) -> Refusal {
        Refusal { status, why: why.to_string() }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.why }))).into_response()
    }
}

/// Where nothing else is.
pub(super) async fn nothing_here(uri: Uri) -> Refusal {
    Refusal::absent(format!("there is nothing at {}", uri.path()))
}

/// Where something is that can only be read.
pub(super) async fn only_read() -> Refusal {
    Refusal::of(StatusCode::METHOD_NOT_ALLOWED, "everything here is read with GET")
}
