//! Results of the past: `schemas/history-2.json`.

use crate::json::{Head, Opening, pretty};
use lab::record::Fingerprint;
use lab::store::Entry;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;
use std::path::PathBuf;

/// `history` and its `rebuild` and `remove` print results, the latest first; `show` prints one, and its machine.
#[derive(Serialize, JsonSchema)]
pub(crate) struct HistoryDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    #[serde(flatten)]
    content: Content<'a>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Content<'a> {
    All {
        results: &'a [Entry],
    },
    One {
        result: &'a Entry,
        /// Settings by name, in words; `none: why` where the machine has none, `unknown: why` where it is unknown.
        machine: &'a Fingerprint,
        /// Of its machines during the trials, for fullclock watch --replay.
        recordings: Vec<String>,
    },
}

/// The results, in the order given.
pub fn json(head: &Head, results: &[Entry]) -> Result<String> {
    pretty(&HistoryDocument { opening: head.opening(), content: Content::All { results } })
}

/// One result, and the machine it was taken on.
pub fn entry(
    head: &Head,
    result: &Entry,
    machine: &Fingerprint,
    recordings: &[PathBuf],
) -> Result<String> {
    let recordings = recordings.iter().map(|it| it.display().to_string()).collect();
    let content = Content::One { result, machine, recordings };
    pretty(&HistoryDocument { opening: head.opening(), content })
}
