//! Results and comparisons as JSON: `schemas/result-1.json`, `schemas/comparison-1.json`.

use super::{Report, peers};
use crate::json::{SCHEMA_VERSION, pretty};
use lab::comparison::Comparison;
use lab::trial::Trial;
use serde_json::{Result, Value, json};
use std::iter::once;

/// One result, with what is said of it. In one line, as a result file is, so that it can be compared like one; and in pieces,
/// as all trials as text take many times the memory of the result.
pub fn result(report: &Report<'_>) -> Result<impl Iterator<Item = Result<String>>> {
    let mut head = serde_json::to_value(report.record.without_trials())?;
    let (mut before, mut after) = ("{".to_owned(), "]".to_owned());
    if let Some(fields) = head.as_object_mut() {
        fields.remove(TRIALS);
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
        // Keys are sorted, as everywhere.
        for (key, value) in fields.iter() {
            let field = format!("{}:{value}", Value::from(&**key));
            if **key < *TRIALS {
                before = before + &field + ",";
            } else {
                after = after + "," + &field;
            }
        }
    }
    let before = format!("{before}\"{TRIALS}\":[");
    let trial = |(place, it): (usize, &Trial)| {
        let separator = if place == 0 { "" } else { "," };
        Ok(format!("{separator}{}", serde_json::to_value(it)?))
    };
    let trials = report.record.trials.iter().enumerate().map(trial);
    Ok(once(Ok(before)).chain(trials).chain(once(Ok(after + "}\n"))))
}

const TRIALS: &str = "trials";

/// What `fullclock compare` says.
pub fn comparisons(found: &[Comparison]) -> Result<String> {
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "comparisons": found,
    }))
}
