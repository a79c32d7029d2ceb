//! What a study comes to, in one sentence.

use super::interaction::dependence;
use super::{Changed, listed};
use crate::bench::percent;
use crate::experiment::Study;
use lab::experiment::analysis::{Effect, Recommendation, SlowerWhere, WorkloadAnalysis};
use lab::known::Known;

/// Settings of a clock make differences of this size: who cannot see one has not settled that there is none.
const FINE: f64 = 0.05;

/// The sentence at the top.
pub(in crate::experiment) fn verdict(study: &Study<'_>) -> String {
    let subject = if study.varies_settings() { "No setting here" } else { "Nothing varied here" };
    let recommended = &study.analysis.recommendation;
    if matches!(recommended, Recommendation::Nothing)
        && !study.varies_settings()
        && let Some(found) = found(study)
    {
        return found;
    }
    match recommended {
        Recommendation::Nothing => nothing(study, subject),
        Recommendation::Depends => depends(study),
        Recommendation::Keep { because, left_out } => keep(study, because, !left_out.is_empty()),
        Recommendation::Change { levels, expected, slower, slower_where, .. } => {
            let gains = gains(study, levels, expected, slower);
            change(study, levels, &gains, &losses(study, expected, slower, slower_where))
        }
        Recommendation::Unsettled { why } => format!("No recommendation: {why}"),
    }
}

/// That nothing was shown, and within what it lies if there is something.
fn nothing(study: &Study<'_>, subject: &str) -> String {
    let start = format!("{subject} was shown to matter for {}", workloads(study));
    match farthest(study) {
        Ok(share) if share > FINE => {
            format!("{start}; if one does, it is by up to {} %: run more trials", percent(share))
        }
        Ok(share) => format!("{start}; if one does, it is by {} % at most", percent(share)),
        Err(missing) => format!("{start}: {missing}"),
    }
}

/// The farthest end of the intervals of the effects that the study is about, as a share of the result itself.
fn farthest<'a>(study: &Study<'a>) -> Result<f64, &'a str> {
    let any_setting = study.varies_settings();
    let mut farthest: Result<f64, &str> = Err("no effect was looked for");
    for workload in &study.analysis.workloads {
        let changed = Changed::of(study, workload);
        let is_asked = |it: &&Effect| !any_setting || study.is_setting(it.factor);
        for effect in workload.effects.iter().filter(is_asked) {
            let estimate = match &effect.estimate {
                Known::Value(it) => it,
                Known::Missing { missing } => return Err(missing),
            };
            let [_, low, high] = changed.ends(estimate);
            farthest = Ok(farthest.unwrap_or(0.0).max(low.abs()).max(high.abs()));
        }
    }
    farthest
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
            Some(Changed::of(study, it).about(*gain))
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
    let about = |place: usize, change: f64| {
        let workload = study.analysis.workloads.get(place)?;
        Some(Changed::of(study, workload).about(change))
    };
    let on_the_whole = slower.iter().filter_map(|at| about(*at, *expected.get(*at)?));
    let others = slower_where.iter().filter(|it| !slower.contains(&it.workload));
    let others = others.filter_map(|it| {
        let condition = study.setting(it.condition, it.level);
        let workload = study.analysis.workloads.get(it.workload)?;
        Some(format!("{} where {condition}", Changed::of(study, workload).much(&it.estimate)))
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
    use lab::experiment::analysis::Estimate;
    use lab::stats::Interval;

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
            "governor=performance makes cpu-loop take 55 % less time and the speed of cpu-speed 3.2 % higher"
        );
        let interval = Interval { low: 0.10, high: 0.14 };
        let estimate = Estimate { change: 0.12, interval, confidence: 0.99, is_claimed: true };
        let loaded = |workload| SlowerWhere { workload, condition: 2, level: 1, estimate };
        assert_eq!(
            change([-0.55, 0.02], &[1], &[loaded(1)]),
            "governor=performance makes cpu-loop take 55 % less time, but the speed of cpu-speed 2.0 % lower"
        );
        assert_eq!(
            change([-0.55, -0.031], &[], &[loaded(1)]),
            "governor=performance makes cpu-loop take 55 % less time and the speed of cpu-speed 3.2 % higher, but \
             the speed of cpu-speed 11 % lower (9 to 12 %) where load=all-cores"
        );
    }

    #[test]
    fn what_depends_on_a_condition_says_what_it_does_under_each() {
        assert_eq!(
            of(Recommendation::Depends),
            "It depends on load: idle-state.C6=off makes the speed of cpu-speed 13.1 % lower than with on (12.6 to 13.7 %) where \
             load=idle, and shows no effect where load=all-cores (between 0.5 % lower and 0.6 % higher)"
        );
    }

    #[test]
    fn what_does_not_matter_is_told_by_its_farthest_end_and_unknown_sizes_are_not_claimed() {
        let (record, mut analysis) = fixture::study();
        analysis.recommendation = Recommendation::Nothing;
        let mut told = |change, half, missing: Option<&str>| {
            for workload in &mut analysis.workloads {
                workload.effects = vec![fixture::effect(0, 1, change, half)];
                if let Some(missing) = missing {
                    let missing = missing.to_owned();
                    workload.effects[0].estimate = Known::Missing { missing };
                }
            }
            verdict(&Study::of(&record, &analysis).unwrap())
        };
        let start = "No setting here was shown to matter for any of these workloads";
        assert_eq!(
            told(0.001, 0.003, None),
            format!("{start}; if one does, it is by 0.40 % at most")
        );
        // Twice as slow is half of a rate, and half as slow twice of it.
        let noisy = format!("{start}; if one does, it is by up to 100 %: run more trials");
        assert_eq!(told(0.0, 0.5, None), noisy);
        let few = "there are 3 blocks, and it takes 6";
        assert_eq!(told(0.0, 0.0, Some(few)), format!("{start}: {few}"));
    }

    #[test]
    fn a_study_of_conditions_alone_says_what_they_do_and_nothing_of_settings() {
        let (mut record, mut analysis) = fixture::study();
        let experiment = record.experiment.as_mut().unwrap();
        experiment.design.factors.iter_mut().for_each(|it| it.name = "cpu".to_owned());
        analysis.workloads.truncate(1);
        analysis.workloads[0].interactions.clear();
        // As the analysis has it: it recommends settings only.
        analysis.recommendation = Recommendation::Nothing;
        let mut told = |half| {
            analysis.workloads[0].effects = vec![fixture::effect(0, 1, -0.021, half)];
            verdict(&Study::of(&record, &analysis).unwrap())
        };
        let found = told(0.006);
        assert!(found.starts_with("cpu=performance makes cpu-loop take 2.1"), "{found}");
        assert_eq!(
            told(0.03),
            "Nothing varied here was shown to matter for cpu-loop; if one does, it is by up to 5.1 %: run more trials"
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
            "No recommendation: every trial failed"
        );
    }
}
