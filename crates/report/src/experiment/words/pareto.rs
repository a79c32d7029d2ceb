//! The combinations that no other one beats.

use super::listed;
use crate::experiment::Study;
use std::collections::BTreeSet;

/// As many as this are told one by one.
const FEW: usize = 3;

/// A sentence where there are several and not all of them: what they have in common, and of few what they differ in.
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

    fn of(pareto: &[usize]) -> Option<String> {
        let (record, mut analysis) = fixture::study();
        analysis.pareto = pareto.to_vec();
        super::pareto(&Study::of(&record, &analysis).unwrap())
    }

    #[test]
    fn what_is_unbeaten_is_told_by_what_it_shares_and_differs_in() {
        assert_eq!(
            of(&[4, 6]).unwrap(),
            "2 of 4 combinations are beaten by no other one beyond doubt, all of them with \
             governor=performance: idle-state.C6=on; idle-state.C6=off"
        );
    }

    #[test]
    fn one_that_beats_all_and_none_that_is_beaten_are_no_news() {
        assert_eq!(of(&[4]), None);
        assert_eq!(of(&[0, 2, 4, 6]), None);
    }
}
