//! Every trial of every arm.

use crate::experiment::Study;
use crate::html::markup::Markup;
use crate::html::points::{self, Row};
use lab::experiment::analysis::{ArmAnalysis, WorkloadAnalysis};
use std::collections::BTreeMap;

/// The numbers of an arm's trials and their figures.
type Points = BTreeMap<usize, Vec<(u32, f64)>>;

/// Nothing where every trial failed.
pub(super) fn chart(study: &Study<'_>, workload: &WorkloadAnalysis) -> Markup {
    let points = points(study);
    let row = |it: &ArmAnalysis| Row {
        label: study.label(it.arm),
        median: it.median,
        failed: it.failed,
        points: points.get(&it.arm).map_or(&[][..], Vec::as_slice),
    };
    let rows: Vec<Row<'_>> = workload.arms.iter().map(row).collect();
    let about = format!(
        "{} of each trial, {}; the upright mark is the median.",
        workload.figure,
        study.key()
    );
    points::chart(&about, &workload.unit, &rows)
}

/// Of all arms, in one walk over the trials.
fn points(study: &Study<'_>) -> Points {
    let mut points = Points::new();
    for trial in study.record.trials.iter().filter(|it| it.failed.is_none()) {
        if let Some(figure) = trial.outcome.figures.first() {
            points.entry(trial.arm).or_default().push((trial.number, figure.value));
        }
    }
    points
}
