//! Results and comparisons: `schemas/result-2.json`, `schemas/comparison-3.json`.

use super::Report;
use super::views::{ComparisonView, RankedView};
use crate::json::{Head, Opening, Version, pretty};
use lab::comparison::Comparison;
use lab::known::Known;
use lab::peers::Standing;
use lab::record::Record;
use lab::summary::Summary;
use lab::trial::Trial;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Result, Value};
use std::iter::once;

/// What can be said of the difference between results.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ComparisonDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 3>,
    comparisons: Vec<ComparisonView<'a>>,
}

/// Comparisons as JSON.
pub fn comparisons(head: &Head, comparisons: &[Comparison]) -> Result<String> {
    let comparisons = comparisons.iter().map(ComparisonView::of).collect();
    pretty(&ComparisonDocument { opening: head.opening(), comparisons })
}

/// A result with its trials, and what is derived from them. A file holds what every result has, from `format` to `is_complete`; `--json` adds the rest.
#[derive(Serialize, JsonSchema)]
#[schemars(transform = also_of_files)]
pub(crate) struct ResultDocument<'a> {
    schema_version: Version<2>,
    /// The version of the program that prints it.
    fullclock: &'static str,
    /// The name of the host that prints it.
    host: &'a str,
    #[serde(flatten)]
    record: Record,
    /// One for each arm that has trials.
    summaries: &'a [Summary],
    /// Of two arms.
    comparisons: Vec<ComparisonView<'a>>,
    /// Of more than two, the fastest first, each against the one in the middle.
    ranking: Vec<RankedView<'a>>,
    /// Where it is kept.
    file: Option<String>,
    /// Recordings of its machines during the trials, for fullclock watch --replay.
    recordings: Vec<String>,
    /// --peers: how the machine compares with others of the same processor.
    peers: Option<Known<Peers<'a>>>,
    /// What --until requested and did not get.
    shortfall: Option<&'a str>,
}

/// How a machine compares with its peers.
#[derive(Serialize, JsonSchema)]
struct Peers<'a> {
    /// The processor, as /proc/cpuinfo calls it.
    model: &'a str,
    /// Million operations a second, the median of the trials.
    speed: f64,
    #[schemars(range(min = 1))]
    n_peers: usize,
    /// The middle one of the peers' speeds.
    median: f64,
    /// `speed` by `median`.
    share: f64,
    /// The duty cycle of clock modulation that would make a peer this slow; null where there is none.
    duty: Option<f64>,
}

/// Requires what files have, and what they have had from the beginning.
fn also_of_files(schema: &mut Schema) {
    let always =
        ["format", "id", "version", "began", "arms", "machine", "trials", "doubts", "is_complete"];
    schema.insert("required".to_owned(), always.as_slice().into());
}

fn peers(found: &Known<Standing>) -> Known<Peers<'_>> {
    match found {
        Known::Missing { missing } => Known::missing(missing),
        Known::Value(it) => Known::Value(Peers {
            model: &it.model,
            speed: it.speed,
            n_peers: it.n_peers,
            median: it.median,
            share: it.share(),
            duty: it.duty_in_eighths().map(|eighths| f64::from(eighths) / 8.0),
        }),
    }
}

fn document<'a>(head: &'a Head, report: &'a Report<'_>) -> ResultDocument<'a> {
    let recordings = report.recordings.iter().map(|it| it.display().to_string());
    let compared = report.comparisons.as_deref().unwrap_or_default();
    ResultDocument {
        schema_version: Version,
        fullclock: env!("CARGO_PKG_VERSION"),
        host: &head.host,
        record: report.record.without_trials(),
        summaries: &report.summaries,
        comparisons: compared.iter().map(ComparisonView::of).collect(),
        ranking: report.ranking.iter().map(RankedView::of).collect(),
        file: report.file.map(|it| it.display().to_string()),
        recordings: recordings.collect(),
        peers: report.peers.as_ref().map(peers),
        shortfall: report.shortfall.as_deref(),
    }
}

/// A result with its report, on one line like a result file, so that `fullclock compare` reads it. In pieces: the text of all
/// trials takes many times the memory of the result.
pub fn result(head: &Head, report: &Report<'_>) -> Result<impl Iterator<Item = Result<String>>> {
    let mut document = serde_json::to_value(document(head, report))?;
    let (mut before, mut after) = ("{".to_owned(), "]".to_owned());
    if let Some(fields) = document.as_object_mut() {
        fields.remove(TRIALS);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_modulated_to_a_quarter_has_its_duty_cycle_and_a_healthy_one_none() {
        let duty = |speed: f64, median: f64| {
            let standing = Standing { speed, model: "A".to_owned(), n_peers: 1, median };
            peers(&Known::Value(standing)).value().unwrap().duty
        };
        assert_eq!((duty(673.0, 2713.0), duty(707.0, 700.0)), (Some(0.25), None));
    }
}
