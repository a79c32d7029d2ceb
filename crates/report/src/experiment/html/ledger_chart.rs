//! What was lost in each arm.

use crate::experiment::Study;
use crate::html::losses::{self, Bar};
use crate::html::markup::Markup;
use lab::experiment::analysis::WorkloadAnalysis;

/// Nothing where no ledger was kept.
pub(super) fn chart(study: &Study<'_>, workload: &WorkloadAnalysis) -> Markup {
    let bars = workload.arms.iter();
    let bars: Vec<Bar<'_>> =
        bars.map(|it| Bar { label: study.label(it.arm), ledger: &it.ledger }).collect();
    losses::chart(&study.key(), &bars)
}
