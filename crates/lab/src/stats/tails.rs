//! Rare slow trials that one arm has more of, which its middle does not show.

use super::{Sample, median, median_deviation};
use statrs::distribution::{Discrete, Hypergeometric};

/// How many trials of each arm were far slower than a typical one of both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowTrials {
    /// Of the first arm, and how many trials that has.
    pub a: [usize; 2],
    /// Of the second arm.
    pub b: [usize; 2],
    /// The chance of shares as different as these where both arms have slow trials equally often.
    pub p: f64,
    /// The logarithm of the mean time of `b` over that of `a`: slow trials included.
    pub change_of_mean: f64,
}

/// Counts the trials above the median of their arm by more than 5 scaled median deviations of both arms together; the values are
/// logarithms of times. An arm that is slower as a whole has no more of them.
///
/// Fisher, "The Design of Experiments" (1935), section 21.01: the exact test of a table of two by two.
pub fn slow_trials(a: &Sample, b: &Sample) -> SlowTrials {
    let centered = a.less(median(a)).joined(&b.less(median(b)));
    let limit = FAR * median_deviation(&centered);
    let slow = |arm: &Sample| {
        let limit = median(arm) + limit;
        [arm.len() - arm.sorted().partition_point(|it| *it <= limit), arm.len()]
    };
    let center = median(a);
    let mean = |arm: &Sample| {
        arm.sorted().iter().map(|it| (it - center).exp()).sum::<f64>() / arm.len() as f64
    };
    SlowTrials {
        a: slow(a),
        b: slow(b),
        p: fisher(slow(a), slow(b)),
        change_of_mean: (mean(b) / mean(a)).ln(),
    }
}

const FAR: f64 = 5.0;

/// The chance of a table as improbable as this one or more so; each side is how many of how many.
fn fisher([a, of_a]: [usize; 2], [b, of_b]: [usize; 2]) -> f64 {
    let marked = a + b;
    let Ok(tables) = Hypergeometric::new((of_a + of_b) as u64, marked as u64, of_a as u64) else {
        return 1.0;
    };
    // Chances that are equal on paper differ in their last bits.
    let seen = tables.pmf(a as u64) * (1.0 + 1e-7);
    let possible = marked.saturating_sub(of_b)..=marked.min(of_a);
    let chances = possible.map(|it| tables.pmf(it as u64)).filter(|it| *it <= seen);
    chances.sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lady tasting tea names three of four, and the twins of convicts in Fisher's paper of 1935: 10 of 13 against 2 of 17.
    #[test]
    fn the_published_tables_are_met() {
        assert!((fisher([3, 4], [1, 4]) - 34.0 / 70.0).abs() < 1e-9);
        let twins = fisher([10, 13], [2, 17]);
        assert!((twins - 0.000_536_7).abs() < 1e-6, "{twins}");
        assert_eq!(fisher([0, 10], [0, 10]), 1.0);
        assert_eq!(fisher([10, 10], [10, 10]), 1.0);
    }

    /// 15 of 300 against 1 of 300; a slow trial takes 30 % longer.
    #[test]
    fn slow_trials_of_one_arm_are_counted_and_the_mean_shows_them() {
        let arm = |n_slow: u32| {
            let values = (0..300).map(|it| {
                f64::from(it * 7 % 11) / 3000.0 + if it < n_slow { 1.3_f64.ln() } else { 0.0 }
            });
            Sample::new(values.collect()).unwrap()
        };
        let found = slow_trials(&arm(1), &arm(15));
        assert_eq!((found.a, found.b), ([1, 300], [15, 300]));
        assert!(found.p < 0.001, "{found:?}");
        assert!((found.change_of_mean - 0.3 * 14.0 / 300.0).abs() < 1e-3, "{found:?}");
        let none = slow_trials(&arm(0), &arm(0));
        assert_eq!((none.a, none.b, none.p), ([0, 300], [0, 300], 1.0));
        let moved = Sample::new((0..20).map(|it| 1.0 + f64::from(it) / 1e4).collect()).unwrap();
        let shifted = slow_trials(&arm(0), &moved);
        assert_eq!((shifted.b, shifted.p), ([0, 20], 1.0), "slower as a whole");
    }
}
