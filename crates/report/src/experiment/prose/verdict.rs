//! What a study comes to, in one sentence.

use super::interaction::dependence;
use super::{listed, way};
use crate::bench::percent;
use crate::experiment::Study;
use lab::experiment::analysis::{Recommendation, SlowerWhere, WorkloadAnalysis};
use lab::known::Known;

/// Settings of a clock make differences of this size: who cannot see one has not settled that there is none.
const FINE: f64 = 0.05;

/// The sentence at the top.
pub(in crate::experiment) fn verdict(study: &Study<'_>) -> String {
    let subject = if study.varies_settings() { "No setting here" } else { "Nothing varied here" };
    let recommended = &study.analysis.recommendation;
    if matches!(recommended, Recommendation::Nothing { .. })
        && !study.varies_settings()
        && let Some(found) = found(study)
    {
        return found;
    }
    match recommended {
        Recommendation::Nothing { detectable: Known::Value(share) } if *share >= 1.0 => format!(
            "{subject} was shown to matter for {}: a difference of 100 % would not have been detected, so run more trials",
            workloads(study)
        ),
        Recommendation::Nothing { detectable: Known::Value(share) } if *share > FINE => format!(
            "{subject} was shown to matter for {}, and only a change of {} % or more would have been: run more trials",
            workloads(study),
            percent(*share)
        ),
        Recommendation::Nothing { detectable: Known::Value(share) } => format!(
            "{subject} matters for {}: a change of {} % would have been detected",
            workloads(study),
            percent(*share)
        ),
        Recommendation::Nothing { detectable: Known::Missing { missing } } => {
            format!("{subject} was shown to matter for {}: {missing}", workloads(study))
        }
        Recommendation::Depends => depends(study),
        Recommendation::Keep { because, left_out } => keep(study, because, !left_out.is_empty()),
        Recommendation::Change { levels, expected, slower, slower_where, .. } => {
            let gains = gains(study, levels, expected, slower);
            change(study, levels, &gains, &losses(study, expected, slower, slower_where))
        }
        Recommendation::Unsettled { why } => format!("Nothing is settled: {why}"),
    }
}

fn depends(study: &Study<'_>) -> String {
    match dependence(study) {
        Some(it) => format!("It depends on {}: {}", study.factor_name(it.condition), it.sentence),
        None => "What a setting does depends on the conditions of the trials".to_owned(),
    }
}

/// What conditions were shown to do, the largest first: nobody can apply one, so no recommendation says it. `None` where that is
/// nothing.
fn found(study: &Study<'_>) -> Option<String> {
    let of_workload = |it| super::effects(study, it).into_iter().filter(|it| it.is_claimed);
    let claimed = study.analysis.workloads.iter().flat_map(of_workload).map(|it| it.sentence);
    let sentences: Vec<String> = claimed.chain(interactions(study)).collect();
    (!sentences.is_empty()).then(|| sentences.join("; "))
}

fn interactions(study: &Study<'_>) -> Vec<String> {
    study.analysis.workloads.iter().flat_map(|it| super::interactions(study, it)).collect()
}

fn keep(study: &Study<'_>, because: &[usize], is_any_left_out: bool) -> String {
    let settings: Vec<String> = because
        .iter()
        .filter(|it| study.is_setting(**it))
        .map(|it| study.setting(*it, 0))
        .collect();
    let what = match &settings[..] {
        [] => "the first level of every setting".to_owned(),
        settings => listed(settings),
    };
    let nothing =
        if is_any_left_out { "nothing else whose trials all ended" } else { "nothing else" };
    let place = match &study.analysis.workloads[..] {
        [one] => study.workload_name(&one.workload),
        _ => "all of these workloads",
    };
    let whole = if dependence(study).is_some() { " on the whole" } else { "" };
    format!("Keep {what}: {nothing} was shown to be faster in {place}{whole}")
}

fn gains(study: &Study<'_>, levels: &[usize], expected: &[f64], slower: &[usize]) -> Vec<String> {
    let workloads = study.analysis.workloads.iter().enumerate();
    workloads
        .filter(|(place, it)| !slower.contains(place) && is_told(study, it, levels))
        .filter_map(|(place, it)| {
            let gain = expected.get(place).filter(|gain| **gain < 0.0)?;
            Some(format!("{} {}", study.workload_name(&it.workload), way(*gain)))
        })
        .collect()
}

/// Workloads that get slower on the whole, and the conditions in which others do.
fn losses(
    study: &Study<'_>,
    expected: &[f64],
    slower: &[usize],
    slower_where: &[SlowerWhere],
) -> Vec<String> {
    let name = |place: usize| {
        let workload = study.analysis.workloads.get(place);
        workload.map_or("?", |it| study.workload_name(&it.workload))
    };
    let on_the_whole = slower.iter().map(|place| {
        let loss = expected.get(*place).map_or_else(|| "slower".to_owned(), |it| way(*it));
        format!("{} {loss}", name(*place))
    });
    let others = slower_where.iter().filter(|it| !slower.contains(&it.workload)).map(|it| {
        let condition = study.setting(it.condition, it.level);
        format!("{} {} where {condition}", name(it.workload), way(it.change))
    });
    on_the_whole.chain(others).collect()
}

fn change(study: &Study<'_>, levels: &[usize], gains: &[String], losses: &[String]) -> String {
    let settings = super::moved(study, levels);
    let verb = if settings.len() == 1 { "makes" } else { "make" };
    let settings = listed(&settings);
    match (gains.is_empty(), losses.is_empty()) {
        (true, true) => format!("{settings} is the best of what was tried"),
        (false, true) => format!("{settings} {verb} {}", listed(gains)),
        (true, false) => format!("{settings} {verb} {}", listed(losses)),
        (false, false) => format!("{settings} {verb} {}, but {}", listed(gains), listed(losses)),
    }
}

/// Whether the figures of a workload show that a combination is another than the first.
fn is_told(study: &Study<'_>, workload: &WorkloadAnalysis, levels: &[usize]) -> bool {
    let arm = study.arm_with(workload, levels);
    let by_arm = arm.and_then(|it| it.change.value()).is_some_and(|it| it.is_claimed);
    let is_chosen = |factor: usize, level| levels.get(factor) == Some(&level);
    let by_effect = workload.effects.iter().any(|it| {
        is_chosen(it.factor, it.level) && it.estimate.value().is_some_and(|it| it.is_claimed)
    });
    by_arm || by_effect
}

/// `cpu-loop`, or what several are called.
fn workloads(study: &Study<'_>) -> String {
    match &study.analysis.workloads[..] {
        [one] => study.workload_name(&one.workload).to_owned(),
        _ => "any of these workloads".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::fixture;

    fn of(recommendation: Recommendation) -> String {
        let (record, mut analysis) = fixture::study();
        analysis.recommendation = recommendation;
        verdict(&Study::of(&record, &analysis).unwrap())
    }

    #[test]
    fn a_change_is_told_with_what_it_gains_and_what_gets_slower() {
        let change = |expected: [f64; 2], slower: &[usize], slower_where: &[SlowerWhere]| {
            of(Recommendation::Change {
                levels: vec![1, 0, 0],
                expected: expected.to_vec(),
                slower: slower.to_vec(),
                slower_where: slower_where.to_vec(),
                was_run: true,
                left_out: Vec::new(),
            })
        };
        assert_eq!(
            change([-0.55, -0.031], &[], &[]),
            "governor=performance makes cpu-loop 55 % faster and cpu-speed 3.1 % faster"
        );
        let loaded = |workload| SlowerWhere { workload, condition: 2, level: 1, change: 0.12 };
        assert_eq!(
            change([-0.55, 0.02], &[1], &[loaded(1)]),
            "governor=performance makes cpu-loop 55 % faster, but cpu-speed 2.0 % slower"
        );
        assert_eq!(
            change([-0.55, -0.031], &[], &[loaded(1)]),
            "governor=performance makes cpu-loop 55 % faster and cpu-speed 3.1 % faster, but \
             cpu-speed 12 % slower where load=all-cores"
        );
    }

    #[test]
    fn what_depends_on_a_condition_says_what_it_does_under_each() {
        assert_eq!(
            of(Recommendation::Depends),
            "It depends on load: idle-state.C6=off makes cpu-speed 15.11 % slower than on where \
             load=idle, and makes no detectable difference where load=all-cores"
        );
    }

    #[test]
    fn nothing_matters_from_a_size_on_and_unknown_sizes_are_not_claimed() {
        assert_eq!(
            of(Recommendation::Nothing { detectable: Known::Value(0.004) }),
            "No setting here matters for any of these workloads: a change of 0.40 % would have \
             been detected"
        );
        let missing = "there are 3 blocks, and it takes 6".to_owned();
        assert_eq!(
            of(Recommendation::Nothing { detectable: Known::Missing { missing } }),
            "No setting here was shown to matter for any of these workloads: there are 3 blocks, \
             and it takes 6"
        );
    }

    #[test]
    fn what_noise_hides_altogether_has_no_percentage() {
        let told = of(Recommendation::Nothing { detectable: Known::Value(81_331.69) });
        assert!(told.ends_with("would not have been detected, so run more trials"), "{told}");
    }

    #[test]
    fn a_study_of_conditions_alone_says_what_they_do_and_nothing_of_settings() {
        let (mut record, mut analysis) = fixture::study();
        let experiment = record.experiment.as_mut().unwrap();
        experiment.design.factors.iter_mut().for_each(|it| it.name = "cpu".to_owned());
        analysis.workloads.truncate(1);
        analysis.workloads[0].interactions.clear();
        // As the analysis has it: it recommends settings only.
        analysis.recommendation = Recommendation::Nothing { detectable: Known::Value(0.08) };
        let mut told = |half| {
            analysis.workloads[0].effects = vec![fixture::effect(0, 1, -0.021, half)];
            verdict(&Study::of(&record, &analysis).unwrap())
        };
        let found = told(0.006);
        assert!(found.starts_with("cpu=performance makes cpu-loop 2.1"), "{found}");
        assert_eq!(
            told(0.03),
            "Nothing varied here was shown to matter for cpu-loop, and only a change of 8.0 % or \
             more would have been: run more trials"
        );
    }

    #[test]
    fn what_is_good_already_is_kept_and_what_is_unsettled_says_why() {
        let keep = |left_out: &[Vec<usize>]| {
            of(Recommendation::Keep { because: vec![0, 2], left_out: left_out.to_vec() })
        };
        assert_eq!(
            keep(&[]),
            "Keep governor=powersave: nothing else was shown to be faster in all of these \
             workloads on the whole"
        );
        assert_eq!(
            keep(&[vec![1, 0, 0]]),
            "Keep governor=powersave: nothing else whose trials all ended was shown to be faster in all of these \
             workloads on the whole"
        );
        assert_eq!(
            of(Recommendation::Unsettled { why: "every trial failed".to_owned() }),
            "Nothing is settled: every trial failed"
        );
    }
}
