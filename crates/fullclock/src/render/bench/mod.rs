//! Results of `fullclock bench` and what `fullclock compare` says, as text and as JSON.

mod arms;
mod commits;
mod comparison;
mod doubt_list;
mod doubts;
#[cfg(test)]
pub(in crate::render) mod fixture;
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

pub(crate) use json::{comparisons as comparisons_json, result as json};
pub(crate) use list::list;
pub(crate) use text::{comparisons, result as text};

use lab::comparison::{Comparison, Ranked, ranking, within};
use lab::known::Known;
use lab::peers::Standing;
use lab::record::Record;
use lab::summary::{Summary, summary};
use std::path::{Path, PathBuf};

/// A result with everything that is said of it.
pub(crate) struct Report<'a> {
    pub(crate) record: &'a Record,
    /// One for each arm that has trials.
    pub(crate) summaries: Vec<Summary>,
    /// Of two arms.
    pub(crate) comparisons: Vec<Comparison>,
    /// Of more.
    pub(crate) ranking: Vec<Ranked>,
    /// Where it is kept.
    pub(crate) file: Option<&'a Path>,
    /// What its machines did meanwhile, beside it.
    pub(crate) recordings: Vec<PathBuf>,
    /// How the machine stands to its peers, where there are some.
    pub(crate) peers: Option<Known<Standing>>,
    /// What a difference in commits comes from.
    pub(crate) commits: Option<lab::commit::Verdict>,
    /// What the user wanted to know and what it would take, where it did not come out.
    pub(crate) shortfall: Option<String>,
}

impl<'a> Report<'a> {
    pub(crate) fn of(record: &'a Record, file: Option<&'a Path>) -> Report<'a> {
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
