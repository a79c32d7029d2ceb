//! An analysis as JSON tells it: each change in the own direction of its result. Within an analysis above 0 is always slower.

use super::Study;
use super::prose::Changed;
use lab::experiment::analysis::{Estimate, Recommendation, WorkloadAnalysis};
use lab::known::Known;
use lab::stats::Interval;

/// A workload.
pub(super) fn workload(study: &Study<'_>, analysis: &WorkloadAnalysis) -> WorkloadAnalysis {
    let changed = Changed::of(study, analysis);
    let mut own = analysis.clone();
    let change = |it: &mut Known<f64>| {
        if let Known::Value(it) = it {
            *it = changed.own(*it);
        }
    };
    own.arms.iter_mut().for_each(|it| turn(changed, &mut it.change));
    for it in &mut own.effects {
        turn(changed, &mut it.estimate);
        turn(changed, &mut it.in_cycles);
        change(&mut it.by_clock);
    }
    for it in &mut own.interactions {
        turn(changed, &mut it.estimate);
        it.first_given_second.iter_mut().for_each(|it| turn(changed, it));
    }
    own
}

/// What to do.
pub(super) fn recommendation(study: &Study<'_>) -> Recommendation {
    let own = |workload: usize, change: &mut f64| {
        if let Some(it) = study.analysis.workloads.get(workload) {
            *change = Changed::of(study, it).own(*change);
        }
    };
    let mut found = study.analysis.recommendation.clone();
    if let Recommendation::Change { expected, slower_where, .. } = &mut found {
        expected.iter_mut().enumerate().for_each(|(at, it)| own(at, it));
        for it in slower_where {
            if let Some(workload) = study.analysis.workloads.get(it.workload) {
                it.estimate = turned(Changed::of(study, workload), &it.estimate);
            }
        }
    }
    found
}

fn turn(changed: Changed<'_>, estimate: &mut Known<Estimate>) {
    if let Known::Value(it) = estimate {
        *it = turned(changed, it);
    }
}

fn turned(changed: Changed<'_>, estimate: &Estimate) -> Estimate {
    let [change, low, high] = changed.ends(estimate);
    Estimate { change, interval: Interval { low, high }, ..*estimate }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn a_rate_that_is_higher_has_a_change_above_0_and_a_time_stays() {
        let (record, mut analysis) = fixture::study();
        analysis.workloads.iter_mut().for_each(|it| {
            it.effects = vec![fixture::effect(0, 1, -0.5, 0.1)];
        });
        let study = Study::of(&record, &analysis).unwrap();
        let [time, speed] = &analysis.workloads[..] else { panic!() };
        assert_eq!(workload(&study, time), *time);
        let turned = workload(&study, speed).effects[0].estimate.value().copied().unwrap();
        let Estimate { change, interval, is_claimed, .. } = turned;
        assert!((change - 1.0).abs() < 1e-9 && is_claimed, "{turned:?}");
        // Half as long at 0.4 and 0.6: two and a half times, and one and two thirds of it.
        assert!((interval.low - 2.0 / 3.0).abs() < 1e-9 && (interval.high - 1.5).abs() < 1e-9);
    }
}
