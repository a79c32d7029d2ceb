//! Factors that depend on each other, a sentence for each pair that matters.

use super::Changed;
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
    found.into_iter().filter_map(|(it, _)| sentence(study, workload, it)).collect()
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
        let sentence = sentence(study, workload, it)?;
        let found = Dependence { setting: setting(it), condition: condition(it), sentence };
        Some((estimate.change.abs(), found))
    };
    let found = study.analysis.workloads.iter().filter_map(of_workload);
    found.max_by(|a, b| a.0.total_cmp(&b.0)).map(|it| it.1)
}

/// The larger of the two changes first: `idle-state.C6=off makes cpu-loop take 13 % longer than with on (12 to 14 %) where turbo=on, and
/// shows no effect where turbo=off (between 2 % less and 1 % more time)`.
fn sentence(study: &Study<'_>, workload: &WorkloadAnalysis, it: &Interaction) -> Option<String> {
    let (first, second) = it.factors;
    let [at_first, at_other] = &it.first_given_second;
    let mut places = [
        (at_first.value()?, study.setting(second, 0)),
        (at_other.value()?, study.setting(second, it.levels.1)),
    ];
    if places[1].0.change.abs() > places[0].0.change.abs() {
        places.swap(0, 1);
    }
    let changed = Changed::of(study, workload);
    let other = study.level(first, 0);
    let [most, least] = places.map(|(estimate, place)| match estimate.is_claimed {
        true => format!("makes {} where {place}", changed.claim(estimate, other)),
        false => {
            let range = changed.range(estimate).map_or(String::new(), |it| format!(" ({it})"));
            format!("shows no effect where {place}{range}")
        }
    });
    let setting = study.setting(first, it.levels.0);
    let name = study.workload_name(&workload.workload);
    // Both may lie within their intervals, and the difference of them not.
    match (
        it.first_given_second[0].value()?.is_claimed,
        it.first_given_second[1].value()?.is_claimed,
    ) {
        (false, false) => {
            Some(format!("What {setting} does to {name} differs: it {most}, and {least}"))
        }
        _ => Some(format!("{setting} {most}, and {least}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::fixture;
    use lab::known::Known;
    use lab::stats::Interval;

    fn told(given: [f64; 2], is_claimed: bool) -> Vec<String> {
        let (record, mut analysis) = fixture::study();
        let change = given[1] - given[0];
        let interval = Interval { low: change - 0.01, high: change + 0.01 };
        let estimate = Estimate { change, interval, confidence: 0.999, is_claimed };
        analysis.workloads[0].interactions = vec![Interaction {
            factors: (1, 2),
            levels: (1, 1),
            estimate: Known::Value(estimate),
            first_given_second: given.map(|it| Known::Value(fixture::estimate(it, 0.01))),
        }];
        interactions(&Study::of(&record, &analysis).unwrap(), &analysis.workloads[0])
    }

    #[test]
    fn an_interaction_is_one_sentence_with_the_larger_change_in_front() {
        assert_eq!(
            told([0.001, 0.13], true),
            [
                "idle-state.C6=off makes cpu-loop take 13 % longer than with on (12 to 14 %) where load=all-cores, and \
              shows no effect where load=idle (between 1 % less and 1 % more time)"
            ]
        );
        assert_eq!(
            told([0.13, -0.05], true),
            [
                "idle-state.C6=off makes cpu-loop take 13 % longer than with on (12 to 14 %) where load=idle, and makes \
              cpu-loop take 5 % less time than with on (4 to 6 %) where load=all-cores"
            ]
        );
    }

    #[test]
    fn one_that_is_not_claimed_is_not_told() {
        assert_eq!(told([0.0, 0.002], false), <[String; 0]>::default());
    }
}
