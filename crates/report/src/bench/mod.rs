//! Results of `fullclock bench`, `fullclock race` and `fullclock compare`, as documents, as JSON and as CSV.

mod arms;
mod commits;
mod comparison;
#[cfg(test)]
mod consistent;
pub(crate) mod differs;
mod document;
mod doubts;
#[cfg(test)]
pub(crate) mod fixture;
mod json;
mod manner;
mod peers;
mod quantity;
mod race;
mod race_marks;
mod race_words;
mod ranking;
mod runs;
mod server;
mod server_log;
#[cfg(test)]
mod tests;
mod trials;
pub(crate) mod verdict_view;
mod views;
pub mod workloads;

pub use arms::described;
pub(super) use arms::{command_line, quoted};
pub(super) use comparison::{cleared, clock as clock_words, unclear, verdict};
pub(super) use document::with_machine;
pub use document::{comparisons, document};
pub(super) use doubts::lines as doubt_lines;
pub(super) use doubts::name as doubt_name;
pub(super) use json::{ComparisonDocument, ResultDocument};
pub use json::{comparisons as comparisons_json, result as json};
pub(super) use manner::Manner;
pub(super) use quantity::{confidence, percent, quantity, range, signed_percents};
pub(super) use race_words::grouped;
pub use runs::of_each;
pub use trials::csv;
pub(super) use views::ComparisonView;
pub(super) use workloads::WorkloadsDocument;

use lab::comparison::{Comparison, Ranked, ranking, within};
use lab::known::Known;
use lab::peers::Standing;
use lab::record::Record;
use lab::summary::{Summary, summary};
use std::path::{Path, PathBuf};

/// A result with everything derived from it.
pub struct Report<'a> {
    /// The result that is reported.
    pub record: &'a Record,
    /// One per arm that has trials.
    pub summaries: Vec<Summary>,
    /// The comparison of two arms; empty for more. The reason where their results are different things.
    pub comparisons: Result<Vec<Comparison>, String>,
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
            comparisons: if is_ranked { Ok(Vec::new()) } else { within(record) },
            ranking: if is_ranked { ranking(record) } else { Vec::new() },
            file,
            recordings: Vec::new(),
            peers: None,
            commits: lab::commit::verdict_of(record),
            shortfall: None,
        }
    }
}
