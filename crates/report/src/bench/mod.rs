//! Results of `fullclock bench` and `fullclock compare`, as text and as JSON.
//!
//! Schemas: `schemas/result-1.json`, `schemas/comparison-1.json`.

mod arms;
mod commits;
mod comparison;
mod doubts;
#[cfg(test)]
pub(crate) mod fixture;
mod peers;
mod quantity;
#[cfg(test)]
mod tests;
mod text;

pub(super) use arms::{command_line, described, quoted};
pub(super) use comparison::{clock as clock_words, verdict};
pub(super) use doubts::lines as doubt_lines;
pub(super) use doubts::name as doubt_name;
pub(super) use quantity::{percent, percents, quantity, range, signed_percents};
pub use text::{comparisons, list, result as text};

use crate::json::{SCHEMA_VERSION, pretty};
use lab::comparison::{Comparison, Ranked, ranking, within};
use lab::known::Known;
use lab::peers::Standing;
use lab::record::Record;
use lab::summary::{Summary, summary};
use serde_json::{Result, Value, json};
use std::path::{Path, PathBuf};

/// A result with everything that is said of it.
pub struct Report<'a> {
    /// The result.
    pub record: &'a Record,
    /// One for each arm that has trials.
    pub summaries: Vec<Summary>,
    /// Of two arms.
    pub comparisons: Vec<Comparison>,
    /// Of more.
    pub ranking: Vec<Ranked>,
    /// Where it is kept.
    pub file: Option<&'a Path>,
    /// What its machines did meanwhile, beside it.
    pub recordings: Vec<PathBuf>,
    /// How the machine stands to its peers, where there are some.
    pub peers: Option<Known<Standing>>,
    /// What a difference in commits comes from.
    pub commits: Option<lab::commit::Verdict>,
    /// What the user wanted to know and what it would take, where it did not come out.
    pub shortfall: Option<String>,
}

impl<'a> Report<'a> {
    /// What can be said of a result that is kept in `file`.
    pub fn of(record: &'a Record, file: Option<&'a Path>) -> Report<'a> {
        let is_ranked = record.arms.len() > 2;
        Report {
            record,
            summaries: (0..record.arms.len()).filter_map(|it| summary(record, it)).collect(),
            comparisons: if is_ranked { Vec::new() } else { within(record) },
            ranking: if is_ranked { ranking(record) } else { Vec::new() },
            file,
            recordings: Vec::new(),
            peers: None,
            commits: lab::commit::verdict_of(record),
            shortfall: None,
        }
    }
}

/// One result, with what is said of it. In one line, as a result file is, so that it can be compared like one.
pub fn json(report: &Report<'_>) -> Result<String> {
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
pub fn comparisons_json(found: &[Comparison]) -> Result<String> {
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "comparisons": found,
    }))
}
