//! The same for programs: `schemas/ipmi-tune-1.json`.

use super::verdict;
use crate::experiment::Study;
use crate::json::{SCHEMA_VERSION, pretty};
use lab::experiment::{Change, Tuned, Tuning};
use lab::ipmi::Model;
use lab::known::Known;
use serde_json::{Value, json};

/// The study of kipmid's limit as JSON: `schemas/ipmi-tune-1.json`.
pub fn json(tuning: &Tuning, model: &Model, study: &Study<'_>) -> serde_json::Result<String> {
    let known = model.as_ref().ok();
    let limit = |(at, it): (usize, &Tuned)| {
        let foretold = known.and_then(|model| Some(model.under(it.limit.parse().ok()?)));
        json!({
            "limit": it.limit,
            "is_unbeaten": tuning.front.contains(&at),
            "slower": change(&it.slower),
            "cpu_time": change(&it.polled),
            "conditions": it.conditions,
            "model": foretold.map(|it| json!({ "both_ms": it.both_ms, "polled_ms": it.polled_ms })),
        })
    };
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "study": study.record.id,
        "is_complete": study.record.is_complete,
        "verdict": verdict(tuning),
        "knee": tuning.knee.and_then(|it| tuning.limits.get(it)).map(|it| &it.limit),
        "advised": tuning.advised(),
        "limits": tuning.limits.iter().enumerate().map(limit).collect::<Vec<_>>(),
        "model": known.map(|it| &it.kernel),
        "model_missing": model.as_ref().err(),
    }))
}

fn change(of: &Known<Change>) -> Value {
    match of {
        Known::Value(it) => {
            json!({ "change": it.change, "low": it.interval.low, "high": it.interval.high })
        }
        Known::Missing { missing } => json!({ "missing": missing }),
    }
}
