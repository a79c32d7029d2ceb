//! The verdict of two results that were taken one after the other.

use super::allowance::{Allowance, BetweenRuns};
use super::closeness::Closeness;
use super::outcome::Verdict;
use super::ratio::Ratio;
use crate::stats::{Sample, Unfit, largest_move, limit_of_two_runs, two_samples};

/// What earlier runs say about the difference of two more, as [`limit_of_two_runs`] does: the logarithm of the middle of each, in
/// groups of runs of the same thing.
///
/// Errors: fewer than three runs.
pub fn between_runs(groups: &[Sample], confidence: f64) -> Result<BetweenRuns, Unfit> {
    let limit = limit_of_two_runs(groups, confidence)?;
    // One run alone has no other to differ from.
    let n_runs = groups.iter().map(Sample::len).filter(|it| *it > 1).sum();
    Ok(BetweenRuns { limit, known_of: Some(n_runs) })
}

/// What is said of two moments, and what was allowed for: a claim names it, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// What may be said.
    pub verdict: Verdict,
    /// What the interval had to clear.
    pub allowance: Allowance,
}

/// Judges the logarithms of the trials of one result of each; `between_runs` is what earlier runs say, if there are any.
pub fn of_moments(
    a: &Sample,
    b: &Sample,
    confidence: f64,
    between_runs: Option<BetweenRuns>,
    margin: Option<f64>,
) -> Moments {
    let allowance = Allowance {
        largest_move: largest_move(a).max(largest_move(b)),
        between_runs: between_runs.unwrap_or(BetweenRuns::ASSUMED),
    };
    let verdict = match two_samples(a, b, confidence) {
        Ok(estimate) => weighed(Ratio::new(estimate, confidence), allowance, margin),
        Err(unfit) => Verdict::too_few(unfit),
    };
    Moments { verdict, allowance }
}

fn weighed(ratio: Ratio, allowance: Allowance, margin: Option<f64>) -> Verdict {
    let total = allowance.total();
    if ratio.near_end() > total {
        return Verdict::Claimed(ratio);
    }
    match margin.filter(|it| Closeness::of(&ratio, total, *it) == Closeness::Within) {
        None if ratio.excludes_none() => Verdict::NotClear { ratio, allowance },
        margin => Verdict::without_claim(ratio, margin),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::confidence;
    use proptest::prelude::*;

    fn run(level: f64, n: i32) -> Sample {
        let noise = (0..n).map(|it| level + f64::from(it * 7 % 11) / 5000.0);
        Sample::new(noise.collect()).unwrap()
    }

    fn judged(a: &Sample, b: &Sample, margin: Option<f64>) -> Verdict {
        of_moments(a, b, confidence(1), None, margin).verdict
    }

    #[test]
    fn a_difference_of_two_runs_is_not_claimed_until_it_clears_what_runs_differ_by() {
        assert!(matches!(judged(&run(0.0, 40), &run(0.01, 40), None), Verdict::NotClear { .. }));
        assert!(judged(&run(0.0, 40), &run(0.05, 40), None).is_claimed());
        assert!(matches!(judged(&run(0.0, 40), &run(0.0, 40), None), Verdict::NotShown(_)));
        assert!(matches!(judged(&run(0.0, 40), &run(0.0, 40), Some(0.05)), Verdict::Same { .. }));
        let few = Verdict::TooFew { have: 4, needed: 5, so_far: None };
        assert_eq!(judged(&run(0.0, 4), &run(0.0, 40), None), few);
    }

    #[test]
    fn twice_as_long_is_claimed_whatever_drifts() {
        let drifting = |level: f64| {
            let noise = (0..40).map(|it| level + 0.001 * f64::from(it));
            Sample::new(noise.collect()).unwrap()
        };
        assert!(judged(&drifting(0.0), &drifting(2.0_f64.ln()), None).is_claimed());
        let of_drift = judged(&drifting(0.0), &drifting(0.04), None);
        assert!(!of_drift.is_claimed(), "{of_drift:?}");
    }

    #[test]
    fn earlier_runs_say_what_two_more_differ_by() {
        let runs = |values: &[f64]| Sample::new(values.to_vec()).unwrap();
        let of = |groups: &[Sample]| between_runs(groups, 0.99).map(|it| it.known_of);
        assert_eq!(of(&[runs(&[0.0, 0.01, 0.02]), runs(&[3.0])]), Ok(Some(3)));
        assert_eq!(of(&[runs(&[0.0, 0.01]), runs(&[3.0, 3.01, 3.02])]), Ok(Some(5)));
        assert!(of(&[runs(&[0.0, 0.01])]).is_err());
        let quiet = Some(BetweenRuns { limit: 0.001, known_of: Some(5) });
        let found = of_moments(&run(0.0, 40), &run(0.01, 40), 0.99, quiet, None);
        assert!(found.verdict.is_claimed(), "{found:?}");
    }

    #[test]
    fn two_runs_are_the_same_within_a_margin_that_holds_what_runs_differ_by_too() {
        let apart = |margin| judged(&run(0.0, 40), &run(0.005, 40), Some(margin));
        assert!(matches!(apart(0.01), Verdict::NotClear { .. }), "{:?}", apart(0.01));
        assert!(matches!(apart(0.05), Verdict::Same { .. }), "{:?}", apart(0.05));
        assert!(judged(&run(0.0, 40), &run(0.04, 40), Some(0.2)).is_claimed());
    }

    proptest! {
        #[test]
        fn it_is_claimed_where_the_interval_clears_the_allowance_and_nowhere_else(
            a in prop::collection::vec(-0.1_f64..0.1, 1..30), b in prop::collection::vec(0.0_f64..0.4, 1..30),
            limit in prop::option::of(0.0_f64..0.1), margin in prop::option::of(0.0_f64..0.5),
        ) {
            let [a, b] = [a, b].map(|it| Sample::new(it).unwrap());
            let between = limit.map(|limit| BetweenRuns { limit, known_of: Some(3) });
            let Moments { verdict, allowance } = of_moments(&a, &b, 0.99, between, margin);
            prop_assert_eq!(verdict.ratio().is_none(), a.len().min(b.len()) < 5);
            if let Some(ratio) = verdict.ratio() {
                let ends = ratio.interval;
                let clears = ends.low > allowance.total() || ends.high < -allowance.total();
                prop_assert_eq!(verdict.is_claimed(), clears && !ends.contains(0.0));
                let is_same = matches!(verdict, Verdict::Same { .. });
                let is_within = margin.is_some_and(|it| Closeness::of(ratio, allowance.total(), it) == Closeness::Within);
                prop_assert_eq!(is_same, is_within && !clears);
                let is_unclear = matches!(verdict, Verdict::NotClear { .. });
                prop_assert_eq!(is_unclear, !clears && !is_same && !ends.contains(0.0));
            }
        }
    }
}
