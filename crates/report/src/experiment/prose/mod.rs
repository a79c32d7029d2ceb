//! The results of a study as sentences and table rows, shared by all output formats.

mod advice;
mod change;
mod effect;
mod interaction;
mod missing;
mod tradeoffs;
mod verdict;

pub use advice::i_know_of;
pub(super) use advice::{advice, command_line};
pub(super) use change::Changed;
pub(super) use effect::effects;
pub(super) use interaction::interactions;
pub(super) use missing::{failures, gaps};
pub(super) use tradeoffs::pareto;
pub(super) use verdict::verdict;

use super::Study;
use crate::bench::{Manner, quantity};
use lab::experiment::analysis::{ArmAnalysis, WorkloadAnalysis};
use lab::known::Known;
use lab::record::Record;
use lab::trial::Better;

/// The measure of a workload: `elapsed in s, lower is faster; 20 blocks`. In a study with reboots, a block is a round of boots.
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

/// Doubts, one line each.
pub(super) fn doubts(record: &Record) -> Vec<String> {
    crate::bench::doubt_lines(&record.doubts.iter().collect::<Vec<_>>(), Manner::of(record))
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// One arm. Unknown values are empty.
pub(in crate::experiment) struct ArmRow {
    /// What it is called among the others.
    pub(in crate::experiment) label: String,
    pub(in crate::experiment) median: String,
    /// Against the first arm: `+13.0 %`.
    pub(in crate::experiment) change: String,
    /// `+12.1 to +13.9 %`.
    pub(in crate::experiment) interval: String,
    /// Whether the change was shown.
    pub(in crate::experiment) is_claimed: bool,
    /// `2.700 GHz`.
    pub(in crate::experiment) clock: String,
    /// `93.1 W`.
    pub(in crate::experiment) watts: String,
    /// `20`, or `17 of 20` if some failed.
    pub(in crate::experiment) trials: String,
    /// Whether no other combination beats it beyond doubt.
    pub(in crate::experiment) is_unbeaten: bool,
}

/// The arms of a workload, in the order of the record.
pub(in crate::experiment) fn rows(study: &Study<'_>, workload: &WorkloadAnalysis) -> Vec<ArmRow> {
    let unbeaten = study.unbeaten();
    let changed = Changed::of(study, workload);
    let row = |it: &ArmAnalysis| {
        let (change, interval) = change(changed, it);
        ArmRow {
            label: study.label(it.arm),
            median: it.median.map_or_else(String::new, |it| quantity(it, &workload.unit, None)),
            change,
            interval,
            is_claimed: it.change.value().is_some_and(|it| it.is_claimed),
            clock: known(&it.clock_hz, |it| quantity(it, "Hz", None)),
            watts: known(&it.watts, |it| format!("{it:.1} W")),
            trials: match it.failed {
                0 => it.trials.to_string(),
                failed => format!("{} of {}", it.trials, it.trials + failed),
            },
            is_unbeaten: unbeaten.contains(&study.setting_levels(it.arm)),
        }
    };
    workload.arms.iter().map(row).collect()
}

fn change(changed: Changed<'_>, arm: &ArmAnalysis) -> (String, String) {
    let Some(it) = arm.change.value() else { return Default::default() };
    let [change, low, high] = changed.signed(it);
    (format!("{change} %"), format!("{low} to {high} %"))
}

fn known(value: &Known<f64>, shown: impl Fn(f64) -> String) -> String {
    value.value().map_or_else(String::new, |it| shown(*it))
}

/// The settings that a combination changes: `governor=performance`.
fn moved(study: &Study<'_>, levels: &[usize]) -> Vec<String> {
    let level = |factor: usize| levels.get(factor).copied().unwrap_or(0);
    let moved = settings(study).into_iter().filter(|it| level(*it) != 0);
    moved.map(|it| study.setting(it, level(it))).collect()
}

fn settings(study: &Study<'_>) -> Vec<usize> {
    study.factors().map(|(at, _)| at).filter(|it| study.is_setting(*it)).collect()
}
