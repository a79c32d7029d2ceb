//! What settings do under each level of a condition (`cpu`, `load`).
//!
//! A condition cannot be chosen, so that what is advised is what is best on the average of its levels. Where that is not best under
//! each of them, it has to be said: who runs under one of them pays for the others.

use super::study::Study;
use super::{LEVEL, SlowerWhere, WorkloadAnalysis};
use crate::experiment::Kind;
use crate::stats::{Claim, Mean, holm};

/// Whether an interaction of a setting with a condition is claimed.
pub(super) fn has_dependence(study: &Study<'_>, workloads: &[WorkloadAnalysis]) -> bool {
    let is_setting = |factor: usize| study.design().factors[factor].kind() == Kind::Setting;
    let mut interactions = workloads.iter().flat_map(|it| &it.interactions);
    interactions.any(|it| {
        let is_claimed = it.estimate.value().is_some_and(|it| it.is_claimed);
        is_claimed && is_setting(it.factors.0) != is_setting(it.factors.1)
    })
}

/// Where a workload gets slower by these levels of the settings; what is asked of all workloads and conditions is one
/// family of tests.
pub(super) fn slower_where(study: &Study<'_>, levels: &[usize]) -> Vec<SlowerWhere> {
    let mut found: Vec<(SlowerWhere, Mean)> = Vec::new();
    for workload in 0..study.design().workloads.len() {
        for (condition, factor) in study.design().factors.iter().enumerate() {
            let n_levels = if factor.kind() == Kind::Setting { 0 } else { factor.levels.len() };
            for level in 0..n_levels {
                let contrast = study.grid.change_where(workload, levels, (condition, level));
                let mean = contrast.mean(&study.measured.figure);
                found.extend(mean.value().map(|it| {
                    let change = it.mean.exp_m1();
                    (SlowerWhere { workload, condition, level, change }, *it)
                }));
            }
        }
    }
    let claims: Vec<Claim> = found.iter().map(|it| Claim { p: it.1.p, weight: 1.0 }).collect();
    let settled = found.iter().zip(holm(&claims));
    let slower = settled.filter(|((it, _), p)| *p < LEVEL && it.change > 0.0);
    slower.map(|((it, _), _)| *it).collect()
}
