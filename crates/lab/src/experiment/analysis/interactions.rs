//! How what one factor does depends on another: differences of differences.

use super::contrast::estimate;
use super::study::Study;
use super::{Interaction, Known};
use crate::experiment::Kind;

/// Every pair of levels of every pair of factors, but the first levels; none where the shape cannot show them.
pub(super) fn interactions(study: &Study<'_>, workload: usize) -> Vec<Interaction> {
    let factors = &study.design().factors;
    let is_setting = |factor: usize| factors[factor].kind() == Kind::Setting;
    let mut found = Vec::new();
    for first in 0..factors.len() {
        for second in first + 1..factors.len() {
            // What a setting does under a condition is what a reader asks for, not what the condition does under a setting.
            let is_turned = is_setting(second) && !is_setting(first);
            let (one, other) = if is_turned { (second, first) } else { (first, second) };
            for level in 1..factors[one].levels.len() {
                for at in 1..factors[other].levels.len() {
                    found.extend(interaction(study, workload, (one, other), (level, at)));
                }
            }
        }
    }
    found
}

fn interaction(
    study: &Study<'_>,
    workload: usize,
    factors: (usize, usize),
    levels: (usize, usize),
) -> Option<Interaction> {
    let figure = &study.measured.figure;
    let dependence = study.grid.dependence(workload, factors, levels)?;
    let contrast = dependence.given_other.less(&dependence.given_first);
    let mean = contrast.mean(figure);
    let given =
        |it: &super::contrast::Contrast| it.mean(figure).value().map_or(0.0, |it| it.mean.exp_m1());
    // Blocks that have one half have not always the other: without a whole contrast there is nothing to show.
    let first_given_second = match &mean {
        Known::Value(_) => (given(&dependence.given_first), given(&dependence.given_other)),
        Known::Missing { .. } => (0.0, 0.0),
    };
    let estimate = mean.map(|it| estimate(&it));
    Some(Interaction { factors, levels, estimate, first_given_second })
}
