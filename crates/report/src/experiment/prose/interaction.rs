//! Factors that depend on each other, a sentence for each pair that matters.

use super::way_word;
use crate::bench::percents;
use crate::experiment::Study;
use lab::experiment::analysis::{Estimate, Interaction, WorkloadAnalysis};

/// Those that may be said to be there, the largest first.
pub(in crate::experiment) fn interactions(
    study: &Study<'_>,
    workload: &WorkloadAnalysis,
) -> Vec<String> {
    let claimed = |it: &'_ Interaction| it.estimate.value().copied().filter(|it| it.is_claimed);
    let mut found: Vec<(&Interaction, Estimate)> =
        workload.interactions.iter().filter_map(|it| Some((it, claimed(it)?))).collect();
    found.sort_by(|a, b| b.1.change.abs().total_cmp(&a.1.change.abs()));
    found.into_iter().map(|(it, estimate)| sentence(study, workload, it, &estimate)).collect()
}

/// What a setting does differently under a condition.
pub(super) struct Dependence {
    /// The place of the setting among the factors.
    pub(super) setting: usize,
    /// The place of the condition.
    pub(super) condition: usize,
    /// What it does under each.
    pub(super) sentence: String,
}

/// The largest that may be said to be there, of all workloads.
pub(super) fn dependence(study: &Study<'_>) -> Option<Dependence> {
    let of_workload = |workload: &'_ WorkloadAnalysis| -> Option<(f64, Dependence)> {
        let claimed = workload.interactions.iter().filter_map(|it| {
            let estimate = it.estimate.value().copied().filter(|it| it.is_claimed)?;
            Some((it, estimate))
        });
        let (setting, condition) =
            (|it: &Interaction| it.factors.0, |it: &Interaction| it.factors.1);
        let dependent = claimed
            .filter(|(it, _)| study.is_setting(setting(it)) && !study.is_setting(condition(it)));
        let (it, estimate) =
            dependent.max_by(|a, b| a.1.change.abs().total_cmp(&b.1.change.abs()))?;
        let sentence = sentence(study, workload, it, &estimate);
        let found = Dependence { setting: setting(it), condition: condition(it), sentence };
        Some((estimate.change.abs(), found))
    };
    let found = study.analysis.workloads.iter().filter_map(of_workload);
    found.max_by(|a, b| a.0.total_cmp(&b.0)).map(|it| it.1)
}

/// The larger of the two changes first: `idle-state.C6=off makes cpu-loop 13 % slower than on where turbo=on, and makes no
/// difference that can be told where turbo=off`.
fn sentence(
    study: &Study<'_>,
    workload: &WorkloadAnalysis,
    it: &Interaction,
    estimate: &Estimate,
) -> String {
    let (first, second) = it.factors;
    let mut places = [
        (it.first_given_second.0, study.setting(second, 0)),
        (it.first_given_second.1, study.setting(second, it.levels.1)),
    ];
    if places[1].0.abs() > places[0].0.abs() {
        places.swap(0, 1);
    }
    let [(most, at_most), (least, at_least)] = places;
    let half = estimate.interval.half_width();
    let [most_share, least_share] = percents([most.abs(), least.abs()], half);
    // The change at one level alone is known no better than the difference of both.
    let least = if least.abs() < half {
        "makes no detectable difference".to_owned()
    } else {
        format!("{least_share} % {}", way_word(least))
    };
    format!(
        "{} makes {} {most_share} % {} than {} where {at_most}, and {least} where {at_least}",
        study.setting(first, it.levels.0),
        study.workload_name(&workload.workload),
        way_word(most),
        study.level(first, 0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::fixture;
    use lab::known::Known;
    use lab::stats::Interval;

    fn told(first_given_second: (f64, f64), is_claimed: bool) -> Vec<String> {
        let (record, mut analysis) = fixture::study();
        let change = first_given_second.1 - first_given_second.0;
        let interval = Interval { low: change - 0.01, high: change + 0.01 };
        let estimate = Estimate { change, interval, p: 0.0, corrected_p: 0.0, is_claimed };
        analysis.workloads[0].interactions = vec![Interaction {
            factors: (1, 2),
            levels: (1, 1),
            estimate: Known::Value(estimate),
            first_given_second,
        }];
        interactions(&Study::of(&record, &analysis).unwrap(), &analysis.workloads[0])
    }

    #[test]
    fn an_interaction_is_one_sentence_with_the_larger_change_in_front() {
        assert_eq!(
            told((0.001, 0.13), true),
            [
                "idle-state.C6=off makes cpu-loop 13.0 % slower than on where load=all-cores, and makes no \
              detectable difference where load=idle"
            ]
        );
        assert_eq!(
            told((0.13, -0.05), true),
            [
                "idle-state.C6=off makes cpu-loop 13.0 % slower than on where load=idle, and 5.0 % faster \
              where load=all-cores"
            ]
        );
    }

    #[test]
    fn one_that_is_not_claimed_is_not_told() {
        assert_eq!(told((0.0, 0.002), false), <[String; 0]>::default());
    }
}
