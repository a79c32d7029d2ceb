//! What a page has to know of this machine before anything happens on it.

use super::Served;
use super::answer::Json;
use axum::extract::State;
use engine::clock::since_1970_ns;
use engine::sampling::Watched;
use facts::utc;
use lab::record::Fingerprint;
use report::json::Head;
use rules::losses::LOSSES;
use rules::metric::Kind;
use rules::metrics::METRICS;
use rules::watch::find_metric;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// This machine, as it was when the server began.
pub(super) struct Machine {
    host: String,
    /// When the server began, UTC (RFC 3339).
    began: String,
    /// Those that were online.
    cpus: String,
    cpu_model: Option<String>,
    kernel: Option<String>,
    interval: Duration,
}

impl Machine {
    /// The one that is watched.
    pub(super) fn of(watched: &Watched, fingerprint: &Fingerprint, interval: Duration) -> Machine {
        Machine {
            host: watched.machine().name,
            began: utc::timestamp(since_1970_ns()),
            cpus: watched.online().to_string(),
            cpu_model: fingerprint.cpu_model().map(str::to_owned),
            kernel: fingerprint.kernel().map(str::to_owned),
            interval,
        }
    }

    /// Of what documents begin with.
    pub(super) fn head(&self) -> Head {
        Head { host: self.host.clone(), began: self.began.clone() }
    }
}

/// `/api/v1/machine`.
pub(super) async fn show(State(served): State<Arc<Served>>) -> Json<Value> {
    let Machine { host, began, cpus, cpu_model, kernel, interval, .. } = &served.machine;
    let losses = LOSSES.iter().map(|it| json!({ "id": it.id, "title": it.title }));
    let probe = find_metric("clock-probe");
    let metrics = METRICS.iter().copied().chain(probe).map(|it| {
        let kind = match it.kind {
            Kind::Sum => "sum",
            Kind::Mean => "mean",
            Kind::Peak => "peak",
        };
        json!({ "id": it.id, "title": it.title, "unit": it.unit.symbol(), "kind": kind })
    });
    Json(json!({
        "schema_version": 2,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "host": host,
        "began": began,
        "cpus": cpus,
        "cpu_model": cpu_model,
        "kernel": kernel,
        "interval_s": interval.as_secs_f64(),
        "losses": losses.collect::<Vec<_>>(),
        "metrics": metrics.collect::<Vec<_>>(),
    }))
}
