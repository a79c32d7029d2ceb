//! The estimate and the interval that belong to the signed-rank test.
//!
//! Hodges and Lehmann, "Estimates of Location Based on Rank Tests", Annals of Mathematical Statistics 34 (1963): the median
//! of the means of all pairs of differences, each with itself included (Walsh's averages); and Tukey's interval, from
//! one of the lowest to one of the highest of them, which holds exactly the differences that the test does not refuse
//! (Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", section 3.3). The averages are counted, never
//! listed: there are half a million of a thousand differences.

use super::normal::{self, bisected};
use super::{Interval, Sample, Unfit};

/// The middle of the differences: the one from which they lean to neither side.
pub fn hodges_lehmann(differences: &Sample) -> f64 {
    let n_pairs = pairs_of(differences.len());
    f64::midpoint(kth(differences, n_pairs.div_ceil(2)), kth(differences, n_pairs / 2 + 1))
}

/// The differences that the signed-rank test does not refuse at the level `1 - confidence`.
///
/// Errors: so few differences that the test could refuse nothing.
pub fn walsh_interval(differences: &Sample, confidence: f64) -> Result<Interval, Unfit> {
    let one_side = (1.0 - confidence) / 2.0;
    // All signs alike have one chance in 2^n.
    let needed = one_side.log2().abs().ceil();
    let n = differences.at_least(needed as usize)?.len();
    let from_end = if n <= EXACT { exact_rank(n, one_side) } else { approximate_rank(n, one_side) };
    Ok(Interval {
        low: kth(differences, from_end),
        high: kth(differences, pairs_of(n) + 1 - from_end),
    })
}

/// As [`super::signed_rank`].
const EXACT: usize = 200;

/// The number of pairs, each value with itself included.
fn pairs_of(n: usize) -> usize {
    n * (n + 1) / 2
}

/// The k-th lowest of the averages, counted from 1, found by how many lie at or below a value.
fn kth(differences: &Sample, k: usize) -> f64 {
    let sorted = differences.sorted();
    let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
    if low == high {
        return low;
    }
    bisected(low, high, |value| at_most(sorted, value) < k)
}

/// How many averages are `value` at most: the more the first of a pair, the fewer seconds fit.
fn at_most(sorted: &[f64], value: f64) -> usize {
    let mut end = sorted.len();
    let mut count = 0;
    for (at, first) in sorted.iter().enumerate() {
        while end > at && f64::midpoint(*first, sorted[end - 1]) > value {
            end -= 1;
        }
        if end <= at {
            break;
        }
        count += end - at;
    }
    count
}

/// The highest rank from the end at which the chance of fewer positive ranks is `one_side` at most.
fn exact_rank(n: usize, one_side: f64) -> usize {
    let mut chances = vec![0.0; pairs_of(n) + 1];
    chances[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..=pairs_of(rank)).rev() {
            let with = if sum >= rank { chances[sum - rank] } else { 0.0 };
            chances[sum] = f64::midpoint(chances[sum], with);
        }
    }
    let mut below = 0.0;
    let refused = chances.iter().take_while(|it| {
        below += **it;
        below <= one_side
    });
    refused.count().max(1)
}

fn approximate_rank(n: usize, one_side: f64) -> usize {
    let pairs = pairs_of(n) as f64;
    let deviation = (pairs * (2 * n + 1) as f64 / 12.0).sqrt();
    (pairs / 2.0 + normal::quantile(one_side) * deviation).max(1.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::signed_rank;
    use proptest::prelude::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.to_vec()).unwrap()
    }

    /// Hollander, Wolfe and Chicken, examples 3.3 and 3.4 (as 96.1 %, the ends are -0.786 and -0.010).
    #[test]
    fn the_published_example_is_met() {
        let differences =
            sample(&[-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010]);
        assert!((hodges_lehmann(&differences) + 0.46).abs() < 1e-9);
        let interval = walsh_interval(&differences, 0.96).unwrap();
        assert!(
            (interval.low + 0.786).abs() < 1e-9 && (interval.high + 0.010).abs() < 1e-9,
            "{interval:?}"
        );
    }

    #[test]
    fn five_differences_have_no_interval_of_95_percent_and_six_do() {
        let refused = walsh_interval(&sample(&[1.0; 5]), 0.95).unwrap_err();
        assert_eq!(refused, Unfit::TooFew { have: 5, needed: 6 });
        let whole = walsh_interval(&sample(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 0.95).unwrap();
        assert_eq!(whole, Interval { low: 1.0, high: 6.0 });
    }

    proptest! {
        #[test]
        fn counting_finds_what_sorting_all_averages_finds(whole in prop::collection::vec(-50_i32..50, 1..30)) {
            let values: Vec<f64> = whole.iter().copied().map(f64::from).collect();
            let sample = sample(&values);
            let sorted = sample.sorted();
            let mut all: Vec<f64> = (0..sorted.len())
                .flat_map(|at| sorted[at..].iter().map(move |it| f64::midpoint(sorted[at], *it)))
                .collect();
            all.sort_unstable_by(f64::total_cmp);
            for (k, expected) in (1..).zip(all) {
                prop_assert!((kth(&sample, k) - expected).abs() < 1e-9);
            }
        }

        #[test]
        fn the_interval_leaves_0_out_where_the_test_refuses_it(values in prop::collection::vec(-1.0_f64..2.0, 6..40)) {
            let sample = sample(&values);
            let interval = walsh_interval(&sample, 0.95).unwrap();
            let p = signed_rank(&sample);
            // Both count steps; a hair beside the level they may round apart.
            prop_assume!((p - 0.05).abs() > 1e-9);
            prop_assert_eq!(p <= 0.05, !interval.contains(0.0), "{:?} {}", interval, p);
        }
    }
}
