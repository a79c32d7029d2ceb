//! Results of `fullclock bench`, `fullclock race` and `fullclock compare`, as documents, as JSON and as CSV.
//!
//! Schemas: `schemas/result-1.json`, `schemas/comparison-1.json`.

mod arms;
mod commits;
mod comparison;
mod document;
mod doubts;
#[cfg(test)]
pub(crate) mod fixture;
mod manner;
mod peers;
mod quantity;
mod ranking;
#[cfg(test)]
mod tests;
mod trials;

pub use arms::described;
pub(super) use arms::{command_line, quoted};
pub(super) use comparison::{clock as clock_words, verdict};
pub(super) use document::with_machine;
pub use document::{comparisons, document, list};
pub(super) use doubts::lines as doubt_lines;
pub(super) use doubts::name as doubt_name;
pub(super) use manner::Manner;
pub(super) use quantity::{percent, percents, quantity, range, signed_percents};
pub use trials::csv;

use crate::json::{SCHEMA_VERSION, pretty};
use lab::comparison::{Comparison, Ranked, ranking, within};
use lab::known::Known;
use lab::peers::Standing;
use lab::record::Record;
use lab::summary::{Summary, summary};
use lab::trial::Trial;
use serde_json::{Result, Value, json};
use std::iter::once;
use std::path::{Path, PathBuf};

/// A result with everything derived from it.
pub struct Report<'a> {
    /// The result that is reported.
    pub record: &'a Record,
    /// One per arm that has trials.
    pub summaries: Vec<Summary>,
    /// The comparison of two arms; empty for more.
    pub comparisons: Vec<Comparison>,
    /// The ranking of three or more arms.
    pub ranking: Vec<Ranked>,
    /// The file of the result.
    pub file: Option<&'a Path>,
    /// Recordings of the machine taken during the trials.
    pub recordings: Vec<PathBuf>,
    /// How the machine compares with its peers, if it has any.
    pub peers: Option<Known<Standing>>,
    /// The cause of a difference in commits.
    pub commits: Option<lab::commit::Verdict>,
    /// If the requested precision was not reached: what was requested and what it would take.
    pub shortfall: Option<String>,
}

impl<'a> Report<'a> {
    /// The report of a result stored in `file`.
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

/// A result with its report, on one line like a result file, so that `fullclock compare` reads it. In pieces: the text of all
/// trials takes many times the memory of the result.
pub fn json(report: &Report<'_>) -> Result<impl Iterator<Item = Result<String>>> {
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

/// The output of `fullclock compare` as JSON.
pub fn comparisons_json(found: &[Comparison]) -> Result<String> {
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "comparisons": found,
    }))
}
