//! `/metrics`: what this machine tells a monitoring system, in the format that it prefers.

use super::Served;
use super::accept::{Offer, preferred};
use super::answer::Refusal;
use super::work::apart;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The formats of figures; the first is for requests that prefer neither.
const FORMATS: [Offer; 2] = [
    Offer { media_type: "text/plain", version: Some("0.0.4") },
    Offer { media_type: "application/openmetrics-text", version: Some("1.0.0") },
];

/// `/metrics`. Before the first interval is over there is no ledger, and while the first audit is made there are no findings.
pub(super) async fn show(
    State(served): State<Arc<Served>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let Some(chosen) = preferred(&headers, &FORMATS) else {
        let why = "there are text/plain;version=0.0.4 and application/openmetrics-text;version=1.0.0, and Accept excludes both";
        return Err(Refusal::of(StatusCode::NOT_ACCEPTABLE, why));
    };
    let is_open = chosen == 1;
    let text = apart(move || Ok(served.tally.page(served.audits.latest().as_deref(), is_open)));
    let kind = if is_open { OPEN_METRICS } else { TEXT };
    Ok(([(CONTENT_TYPE, kind)], text.await?).into_response())
}
