//! The verdicts of what was begun anew several times: runs of each, and legs of a race.

use super::outcome::Verdict;
use crate::stats::{self, Estimate, Interval, Sample, Unfit, mean, means_of_runs};

/// Judges three runs of each or more: the logarithm of the middle of every run. What differs from run to run is in the
/// interval.
pub fn of_runs(a: &Sample, b: &Sample, confidence: f64, margin: Option<f64>) -> Verdict {
    Verdict::of(means_of_runs(a, b, confidence), confidence, margin)
}

/// Judges the legs of a race: the logarithm of the ratio of the totals of each. Engines were begun anew for each leg and
/// places exchanged, so this interval speaks of nodes, not of a race.
pub fn of_legs(log_ratios: &Sample, confidence: f64, margin: Option<f64>) -> Verdict {
    let found: Result<Estimate, Unfit> = mean(log_ratios, confidence, LEAST_LEGS)
        .map(|it| Estimate { value: it.mean, interval: it.interval });
    let (low, high) = (log_ratios.quantile(0.0), log_ratios.quantile(1.0));
    match Verdict::of(found, confidence, margin) {
        Verdict::TooFew { have, needed, .. } => {
            Verdict::TooFew { have, needed, so_far: Some(Interval { low, high }) }
        }
        verdict => verdict,
    }
}

/// As of blocks.
pub const LEAST_LEGS: usize = stats::LEAST_BLOCKS;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn runs_and_legs_are_counted() {
        let three = Sample::new(vec![0.0, 0.01, 0.02]).unwrap();
        let few = of_legs(&three, 0.99, None);
        let so_far = Some(Interval { low: 0.0, high: 0.02 });
        assert_eq!(few, Verdict::TooFew { have: 3, needed: 4, so_far });
        let later = Sample::new(vec![0.5, 0.51]).unwrap();
        let few = of_runs(&three, &later, 0.99, None);
        assert_eq!(few, Verdict::TooFew { have: 2, needed: 3, so_far: None });
    }

    proptest! {
        #[test]
        fn they_are_claimed_where_the_interval_leaves_0_out(values in prop::collection::vec(0.0_f64..1.0, 8..20), by in 0.0_f64..2.0) {
            let (a, b) = values.split_at(4);
            let moved = |it: &[f64]| Sample::new(it.iter().map(|it| it + by).collect()).unwrap();
            let verdicts = [of_runs(&Sample::new(a.to_vec()).unwrap(), &moved(b), 0.99, None), of_legs(&moved(&values), 0.99, None)];
            for verdict in verdicts {
                let ratio = verdict.ratio().copied().unwrap();
                prop_assert_eq!(verdict.is_claimed(), !ratio.interval.contains(0.0));
            }
        }
    }
}
