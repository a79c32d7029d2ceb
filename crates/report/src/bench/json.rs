//! Results and comparisons as JSON: `schemas/result-1.json`, `schemas/comparison-1.json`.

use super::{Report, peers};
use crate::json::{SCHEMA_VERSION, pretty};
use lab::comparison::Comparison;
use serde_json::{Result, Value, json};

/// One result, with what is said of it. In one line, as a result file is, so that it can be compared like one.
pub fn result(report: &Report<'_>) -> Result<String> {
    let mut value = serde_json::to_value(report.record)?;
    if let Some(fields) = value.as_object_mut() {
        let mut insert = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        insert("schema_version", SCHEMA_VERSION.into());
        insert("summaries", serde_json::to_value(&report.summaries)?);
        insert("comparisons", serde_json::to_value(&report.comparisons)?);
        insert("ranking", serde_json::to_value(&report.ranking)?);
        insert("file", json!(report.file.map(|it| it.display().to_string())));
        let recordings = report.recordings.iter().map(|it| it.display().to_string());
        insert("recordings", recordings.collect());
        insert("peers", report.peers.as_ref().map_or(Value::Null, peers::value));
        insert("shortfall", json!(report.shortfall));
    }
    Ok(value.to_string() + "\n")
}

/// What `fullclock compare` says.
pub fn comparisons(found: &[Comparison]) -> Result<String> {
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "comparisons": found,
    }))
}
