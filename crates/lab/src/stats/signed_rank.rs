//! Interleaved trials: the signed-rank test of their differences, and the estimate and interval that belong to it.

use super::distributions::{self, bisected};
use super::{Interval, Sample, Unfit};

/// The chance, over all choices of signs, of differences that lean at least as far to either side; 1 where all are 0.
///
/// Exact up to 200 differences, by the normal distribution beyond.
///
/// Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics Bulletin 1 (1945), as a randomisation test (Fisher,
/// "The Design of Experiments", 1935, section 21): where a coin decides in each block which arm takes which places, and
/// the arms are the same, the difference of a block could as well have had the other sign, whatever noise the machine
/// has: drift, resemblance of neighbours, two modes. The test asks how many of all choices of signs would lean as far.
/// Equal distances share the mean of their ranks; differences of 0 are ranked and lean nowhere (Pratt, "Remarks on
/// Zeros and Ties in the Wilcoxon Signed Rank Procedures", JASA 54 (1959)).
pub fn signed_rank(differences: &Sample) -> f64 {
    let ranks = doubled_ranks(differences);
    let total: u64 = ranks.iter().map(|it| it.0).sum();
    let positive: u64 = ranks.iter().filter(|it| it.1).map(|it| it.0).sum();
    let leaning = positive.min(total - positive);
    let ranks: Vec<u64> = ranks.into_iter().map(|it| it.0).collect();
    if ranks.len() <= EXACT { exact(&ranks, leaning) } else { approximate(&ranks, leaning) }
}

/// So many differences take half a million sums in eight million steps.
const EXACT: usize = 200;

/// Twice the rank of the distance from 0 of each difference that is not 0, and whether the difference is positive.
/// Doubled, because equal distances can share half ranks.
fn doubled_ranks(differences: &Sample) -> Vec<(u64, bool)> {
    let mut distances: Vec<f64> = differences.sorted().iter().map(|it| it.abs()).collect();
    distances.sort_unstable_by(f64::total_cmp);
    let doubled_rank = |distance: f64| {
        let below = distances.partition_point(|it| *it < distance);
        let up_to = distances.partition_point(|it| *it <= distance);
        (below + up_to + 1) as u64
    };
    let unequal = differences.sorted().iter().filter(|it| **it != 0.0);
    unequal.map(|it| (doubled_rank(it.abs()), *it > 0.0)).collect()
}

/// The share of all choices of signs whose positive ranks sum up to `leaning` at most, or as far on the other side.
fn exact(ranks: &[u64], leaning: u64) -> f64 {
    let total: usize = ranks.iter().sum::<u64>() as usize;
    let mut chances = vec![0.0; total + 1];
    chances[0] = 1.0;
    let mut reached = 0;
    for rank in ranks.iter().map(|it| *it as usize) {
        reached += rank;
        for sum in (0..=reached).rev() {
            let without = chances[sum];
            let with = if sum >= rank { chances[sum - rank] } else { 0.0 };
            chances[sum] = f64::midpoint(without, with);
        }
    }
    let one_side: f64 = chances[..=leaning as usize].iter().sum();
    (2.0 * one_side).min(1.0)
}

fn approximate(ranks: &[u64], leaning: u64) -> f64 {
    let mean = ranks.iter().sum::<u64>() as f64 / 2.0;
    let deviation = ranks.iter().map(|it| (*it as f64 / 2.0).powi(2)).sum::<f64>().sqrt();
    // Half of a step of the doubled ranks, because a sum stands for all up to the next one.
    (2.0 * distributions::cumulative((leaning as f64 + 1.0 - mean) / deviation)).min(1.0)
}

/// The middle of the differences: the one from which they lean to neither side.
///
/// Hodges and Lehmann, "Estimates of Location Based on Rank Tests", Annals of Mathematical Statistics 34 (1963): the median
/// of the means of all pairs of differences, each with itself included (Walsh's averages); and Tukey's interval, from
/// one of the lowest to one of the highest of them, which holds exactly the differences that the test does not refuse
/// (Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", section 3.3). The averages are counted, never
/// listed: there are half a million of a thousand differences.
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
    let above = bisected(low, high, |value| at_most(sorted, value).0 < k);
    // Halving comes close to 0 and never there, and 0 decides.
    at_most(sorted, above).1
}

/// How many averages are `value` at most, and the largest of them: the more the first of a pair, the fewer seconds fit.
fn at_most(sorted: &[f64], value: f64) -> (usize, f64) {
    let mut end = sorted.len();
    let (mut count, mut largest) = (0, f64::NEG_INFINITY);
    for (at, first) in sorted.iter().enumerate() {
        while end > at && f64::midpoint(*first, sorted[end - 1]) > value {
            end -= 1;
        }
        if end <= at {
            break;
        }
        count += end - at;
        largest = largest.max(f64::midpoint(*first, sorted[end - 1]));
    }
    (count, largest)
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
    (pairs / 2.0 + distributions::normal_quantile(one_side) * deviation).max(1.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn p(differences: &[f64]) -> f64 {
        signed_rank(&Sample::new(differences.to_vec()).unwrap())
    }

    #[test]
    fn ten_differences_of_one_sign_have_two_chances_in_1024() {
        let differences: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!(p(&differences), 2.0 / 1024.0);
        assert_eq!(p(&[1.0]), 1.0);
        assert_eq!(p(&[0.0, 0.0, 0.0]), 1.0);
    }

    /// The example of Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", 3.1: T+ is 5 of 45, and the
    /// one-sided chance 0.020.
    #[test]
    fn the_published_example_of_depression_factors_is_met() {
        let differences = [-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010];
        assert!((p(&differences) / 2.0 - 0.0195).abs() < 1e-3, "{}", p(&differences));
    }

    /// Seven of eight lean to one side and one to none: the test has a chance of 2 in 128.
    #[test]
    fn an_end_of_0_is_0_whichever_side_leans() {
        let ends = |sign: f64| {
            let differences = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0].map(|it| it * sign / 500.0);
            walsh_interval(&Sample::new(differences.to_vec()).unwrap(), 0.99).unwrap()
        };
        assert_eq!((ends(1.0).low, ends(-1.0).high), (0.0, 0.0));
    }

    #[test]
    fn counting_and_the_normal_distribution_agree_on_many_differences() {
        let ranks: Vec<u64> = (1..=150).map(|it| 2 * it).collect();
        for leaning in [7000, 8000, 9000, 11_000] {
            let (exact, approximate) = (exact(&ranks, leaning), approximate(&ranks, leaning));
            assert!((exact - approximate).abs() < 1e-3, "{exact} {approximate}");
        }
    }

    proptest! {
        /// All choices of signs counted one by one; small whole numbers, so that there are ties and zeros.
        #[test]
        fn it_is_the_share_of_all_choices_of_signs(whole in prop::collection::vec(-4_i32..=4, 1..10)) {
            let values: Vec<f64> = whole.iter().copied().map(f64::from).collect();
            let sample = Sample::new(values).unwrap();
            let ranks = doubled_ranks(&sample);
            let total: u64 = ranks.iter().map(|it| it.0).sum();
            let far = |positive: u64| (2 * positive).abs_diff(total);
            let seen = far(ranks.iter().filter(|it| it.1).map(|it| it.0).sum());
            let choices = 1_u32 << ranks.len();
            let as_far = (0..choices).filter(|signs| {
                far((0..).zip(&ranks).filter(|(at, _)| signs >> at & 1 == 1).map(|(_, it)| it.0).sum()) >= seen
            });
            let share = as_far.count() as f64 / f64::from(choices);
            prop_assert!((signed_rank(&sample) - share.min(1.0)).abs() < 1e-9);
        }
    }

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
            // Both count steps; very near the level their rounding may differ.
            prop_assume!((p - 0.05).abs() > 1e-9);
            prop_assert_eq!(p <= 0.05, !interval.contains(0.0), "{:?} {}", interval, p);
        }
    }
}
