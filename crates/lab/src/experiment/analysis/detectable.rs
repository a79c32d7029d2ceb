//! Which effect of a setting would have been claimed; of a condition, where conditions are all that was varied.

use super::contrast::mean_of;
use super::study::Study;
use super::{Known, LEVEL, WorkloadAnalysis};
use crate::compare::MISSED;
use crate::experiment::Kind;
use crate::stats::detectable_effect;

/// The change that the least certain of the effects that the study is about would have needed to be claimed.
pub(super) fn detectable(study: &Study<'_>, workloads: &[WorkloadAnalysis]) -> Known<f64> {
    let n_tests: usize = workloads.iter().map(|it| it.effects.len() + it.interactions.len()).sum();
    let level = LEVEL / n_tests.max(1) as f64;
    let is_setting = |factor: usize| study.design().factors[factor].kind() == Kind::Setting;
    let any_setting = (0..study.design().factors.len()).any(is_setting);
    let mut largest = Known::Missing { missing: "no effect was looked for".to_owned() };
    for (at, workload) in workloads.iter().enumerate() {
        for effect in &workload.effects {
            if any_setting && !is_setting(effect.factor) {
                continue;
            }
            let contrast = study.grid.effect(at, effect.factor, effect.level);
            let values = contrast.values(&study.measured.figure);
            let found = match mean_of(&values) {
                Known::Value(it) => {
                    detectable_effect(it.standard_error, values.len(), level, MISSED).exp_m1()
                }
                Known::Missing { missing } => {
                    let why = effect.estimate.reason().map(str::to_owned);
                    return Known::Missing { missing: why.unwrap_or(missing) };
                }
            };
            largest = Known::Value(largest.value().map_or(found, |it: &f64| it.max(found)));
        }
    }
    largest
}
