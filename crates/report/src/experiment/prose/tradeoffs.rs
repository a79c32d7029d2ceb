//! Trade-offs between combinations: gains that are given up for other workloads, and the combinations that no other beats.

use super::{Changed, listed, moved};
use crate::experiment::Study;
use lab::experiment::analysis::Effect;
use std::collections::BTreeSet;

/// Up to this many combinations are listed one by one.
const FEW: usize = 3;

/// One sentence per level of a setting that makes a workload faster, without those that `left_out` already names.
pub(super) fn given_up(study: &Study<'_>, left_out: &[Vec<usize>]) -> Vec<String> {
    let factors = study.factors().filter(|(at, _)| study.is_setting(*at));
    let levels = factors.flat_map(|(at, it)| (1..it.levels.len()).map(move |level| (at, level)));
    levels.filter_map(|(factor, level)| sentence(study, factor, level, left_out)).collect()
}

fn sentence(
    study: &Study<'_>,
    factor: usize,
    level: usize,
    left_out: &[Vec<usize>],
) -> Option<String> {
    let effects = claimed(study, factor, level).into_iter();
    let (gains, losses) = effects.partition::<Vec<(f64, String)>, _>(|it| it.0 < 0.0);
    let joined =
        |of: Vec<(f64, String)>| listed(&of.into_iter().map(|it| it.1).collect::<Vec<_>>());
    if gains.is_empty() {
        return None;
    }
    let what = format!("{} makes {}", study.setting(factor, level), joined(gains));
    if !losses.is_empty() {
        return Some(format!("{what}, and is given up because it makes {}.", joined(losses)));
    }
    if left_out.iter().any(|it| it.get(factor) == Some(&level)) {
        return None;
    }
    Some(format!(
        "{what}, and is given up because no combination with it was shown to be faster on the whole."
    ))
}

/// The claimed effects of a level, by workload.
fn claimed(study: &Study<'_>, factor: usize, level: usize) -> Vec<(f64, String)> {
    let workloads = study.analysis.workloads.iter();
    let effects = workloads.flat_map(|of| of.effects.iter().map(move |it| (of, it)));
    let of_level = effects.filter(|(_, it)| (it.factor, it.level) == (factor, level));
    let change = |it: &Effect| it.estimate.value().filter(|it| it.is_claimed).map(|it| it.change);
    of_level
        .filter_map(|(workload, it)| {
            let change = change(it)?;
            Some((change, Changed::of(study, workload).about(change)))
        })
        .collect()
}

/// Combinations that are expected to be faster and whose trials failed.
pub(super) fn left_out(study: &Study<'_>, combinations: &[Vec<usize>]) -> Option<String> {
    let name = |levels: &Vec<usize>| moved(study, levels).join(" with ");
    let mut names: Vec<String> = combinations.iter().take(FEW).map(name).collect();
    let others = combinations.len() - names.len();
    if others > 0 {
        names.push(if others == 1 { "1 other".to_owned() } else { format!("{others} others") });
    }
    let (it, are) = match names.len() {
        0 => return None,
        1 => ("it", "which is"),
        _ => ("them", "which are"),
    };
    Some(format!(
        "Left out, because trials failed with {it}: {}, {are} expected to be faster.",
        listed(&names)
    ))
}

/// The unbeaten combinations: what they have in common and, if few, how they differ. `None` if one or all are unbeaten.
pub(in crate::experiment) fn pareto(study: &Study<'_>) -> Option<String> {
    let arms = &study.analysis.workloads.first()?.arms;
    let all: BTreeSet<Vec<usize>> = arms.iter().map(|it| study.setting_levels(it.arm)).collect();
    let places = study.analysis.pareto.iter();
    let unbeaten: Vec<&[usize]> =
        places.filter_map(|it| Some(study.levels(arms.get(*it)?.arm))).collect();
    let (n, of) = (unbeaten.len(), all.len());
    if n < 2 || n >= of {
        return None;
    }
    let (common, differing): (Vec<usize>, Vec<usize>) = (0..study.design().factors.len())
        .filter(|it| study.is_setting(*it))
        .partition(|at| unbeaten.iter().all(|it| it.get(*at) == unbeaten[0].get(*at)));
    let named = |levels: &[usize], factors: &[usize]| {
        let name = |at: &usize| study.setting(*at, levels.get(*at).copied().unwrap_or(0));
        listed(&factors.iter().map(name).collect::<Vec<_>>())
    };
    let mut sentence = format!("{n} of {of} combinations are beaten by no other one beyond doubt");
    if !common.is_empty() {
        sentence.extend([", all of them with ", &named(unbeaten[0], &common)]);
    }
    if n <= FEW {
        let each: Vec<String> = unbeaten.iter().map(|it| named(it, &differing)).collect();
        sentence.extend([": ", &each.join("; ")]);
    }
    Some(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::fixture;

    /// What a level of the governor does to each of two workloads.
    fn of(changes: [f64; 2], left_out: &[Vec<usize>]) -> Vec<String> {
        let (record, mut analysis) = fixture::study();
        for (workload, change) in analysis.workloads.iter_mut().zip(changes) {
            workload.effects = vec![fixture::effect(0, 1, change, 0.01)];
        }
        given_up(&Study::of(&record, &analysis).unwrap(), left_out)
    }

    #[test]
    fn a_gain_is_named_with_what_it_is_given_up_for() {
        assert_eq!(
            of([-0.26, 0.49], &[]),
            [
                "governor=performance makes cpu-loop take 26 % less time, and is given up because it makes \
              the speed of cpu-speed 33 % lower."
            ]
        );
        assert_eq!(
            of([-0.26, 0.001], &[]),
            [
                "governor=performance makes cpu-loop take 26 % less time, and is given up because no combination \
              with it was shown to be faster on the whole."
            ]
        );
        assert!(of([0.26, 0.001], &[]).is_empty());
    }

    #[test]
    fn what_trials_failed_with_is_told_once() {
        assert!(of([-0.26, -0.26], &[vec![1, 0, 0]]).is_empty());
        let (record, analysis) = fixture::study();
        let told = |of: &[Vec<usize>]| left_out(&Study::of(&record, &analysis).unwrap(), of);
        assert_eq!(told(&[]), None);
        assert_eq!(
            told(&[vec![1, 1, 0], vec![1, 0, 0]]).unwrap(),
            "Left out, because trials failed with them: governor=performance with idle-state.C6=off and \
             governor=performance, which are expected to be faster."
        );
        assert!(told(&vec![vec![1, 0, 0]; 5]).unwrap().contains(" and 2 others, which"));
    }

    fn unbeaten(pareto: &[usize]) -> Option<String> {
        let (record, mut analysis) = fixture::study();
        analysis.pareto = pareto.to_vec();
        super::pareto(&Study::of(&record, &analysis).unwrap())
    }

    #[test]
    fn what_is_unbeaten_is_told_by_what_it_shares_and_differs_in() {
        assert_eq!(
            unbeaten(&[4, 6]).unwrap(),
            "2 of 4 combinations are beaten by no other one beyond doubt, all of them with \
             governor=performance: idle-state.C6=on; idle-state.C6=off"
        );
    }

    #[test]
    fn one_that_beats_all_and_none_that_is_beaten_are_no_news() {
        assert_eq!(unbeaten(&[4]), None);
        assert_eq!(unbeaten(&[0, 2, 4, 6]), None);
    }
}
