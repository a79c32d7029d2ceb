//! What a study found in sentences: each from values, once for all outputs.

mod advice;
mod effect;
mod failures;
mod gaps;
mod given_up;
mod interaction;
mod pareto;
mod repeat;
mod risk;
mod table;
mod verdict;

pub(super) use advice::advice;
pub(super) use effect::effects;
pub(super) use failures::failures;
pub(super) use gaps::gaps;
pub(super) use interaction::interactions;
pub(super) use pareto::pareto;
pub(super) use repeat::command_line;
pub use risk::i_know_of;
pub(super) use table::{ArmRow, rows};
pub(super) use verdict::verdict;

use super::Study;
use crate::bench::percent;
use lab::experiment::analysis::WorkloadAnalysis;
use lab::record::Record;
use lab::trial::Better;

/// What the figure of a workload is: `elapsed in s, lower is faster; 20 blocks`. Where a study takes reboots, a block is a round
/// of boots.
pub(super) fn figure(study: &Study<'_>, workload: &WorkloadAnalysis) -> String {
    let WorkloadAnalysis { figure, unit, better, blocks, .. } = workload;
    let unit = if unit.is_empty() { String::new() } else { format!(" in {unit}") };
    let way = match better {
        Better::Lower => "lower",
        Better::Higher => "higher",
    };
    let block = if study.design().boots.is_some() { "round" } else { "block" };
    let blocks = if *blocks == 1 { format!("1 {block}") } else { format!("{blocks} {block}s") };
    let boots = if study.design().boots.is_some() { " of boots, each one observation" } else { "" };
    format!("{figure}{unit}, {way} is faster; {blocks}{boots}")
}

/// Doubts, a line each.
pub(super) fn doubts(record: &Record) -> Vec<String> {
    crate::bench::doubt_lines(&record.doubts.iter().collect::<Vec<_>>())
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// `12 % slower`.
fn way(change: f64) -> String {
    format!("{} % {}", percent(change.abs()), way_word(change))
}

fn way_word(change: f64) -> &'static str {
    if change < 0.0 { "faster" } else { "slower" }
}
