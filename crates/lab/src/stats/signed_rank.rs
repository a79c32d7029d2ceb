//! The test for interleaved trials: do the differences lean to one side?
//!
//! Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics Bulletin 1 (1945), as a randomisation test (Fisher,
//! "The Design of Experiments", 1935, section 21): where a coin decides in each block which arm takes which places, and
//! the arms are the same, the difference of a block could as well have had the other sign, whatever noise the machine
//! has: drift, resemblance of neighbours, two modes. The test asks how many of all choices of signs would lean as far.
//! Equal distances share the mean of their ranks; differences of 0 are ranked and lean nowhere (Pratt, "Remarks on
//! Zeros and Ties in the Wilcoxon Signed Rank Procedures", JASA 54 (1959)).

use super::{Sample, normal};

/// The chance, over all choices of signs, of differences that lean at least as far to either side; 1 where all are 0.
///
/// Exact up to 200 differences, by the normal distribution beyond.
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
    (2.0 * normal::cumulative((leaning as f64 + 1.0 - mean) / deviation)).min(1.0)
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
}
