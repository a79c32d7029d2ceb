//! Results of `fullclock bench` and what `fullclock compare` says, as text and as JSON.

mod arms;
mod commits;
mod comparison;
mod doubt_list;
mod doubts;
#[cfg(test)]
pub(crate) mod fixture;
mod json;
mod list;
mod peers;
mod quantity;
#[cfg(test)]
mod tests;
mod text;

pub(super) use arms::{command_line, described, quoted};
pub(super) use comparison::{clock as clock_words, verdict};
pub(super) use doubt_list::lines as doubt_lines;
pub(super) use doubts::name as doubt_name;
pub(super) use quantity::{percent, percents, quantity, range, signed_percents};

pub use json::{comparisons as comparisons_json, result as json};
pub use list::list;
pub use text::{comparisons, result as text};

use lab::comparison::{Comparison, Ranked, ranking, within};
use lab::known::Known;
use lab::peers::Standing;
use lab::record::Record;
use lab::summary::{Summary, summary};
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
