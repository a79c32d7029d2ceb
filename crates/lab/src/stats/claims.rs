//! What may be claimed: the correction for several tests, the smallest detectable difference, the number of trials needed.

use super::distributions;

/// A test among several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// The chance of such evidence where there is no difference.
    pub p: f64,
    /// How much of the level it gets, compared with the others; above 0.
    pub weight: f64,
}

/// The p-value of each test, in the same order, corrected for there being several: those below a level may be claimed
/// together, with no more than that chance of any false claim.
///
/// Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6 (1979), with the
/// weights of its section 4. It needs no independence of the tests.
pub fn holm(claims: &[Claim]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..claims.len()).collect();
    order.sort_by(|left, right| pressure(&claims[*left]).total_cmp(&pressure(&claims[*right])));
    let mut corrected = vec![1.0; claims.len()];
    let mut weight: f64 = claims.iter().map(|it| it.weight).sum();
    let mut highest = 0.0_f64;
    for at in order {
        highest = highest.max(pressure(&claims[at]) * weight).min(1.0);
        corrected[at] = highest;
        weight -= claims[at].weight;
    }
    corrected
}

fn pressure(claim: &Claim) -> f64 {
    claim.p / claim.weight
}

/// The difference that a two-sided test at `level` misses with chance `missed` only, where the estimate has this
/// standard error and rests on `n` independent differences; in the unit of the error.
///
/// Bloom, "Minimum Detectable Effects", Evaluation Review 19 (1995): the quantiles of Student's t for the level and for the
/// power, times the standard error. It rests on the noise that the trials had, and holds for trials as many and as
/// noisy as those.
pub fn detectable_effect(standard_error: f64, n: usize, level: f64, missed: f64) -> f64 {
    let degrees = n.saturating_sub(1);
    // One of the two tails that a quantile counts holds half of them.
    (distributions::t_quantile(level, degrees) + distributions::t_quantile(2.0 * missed, degrees))
        * standard_error
}

/// The number of trials that gives the half-width `wished`, where `trials` gave `seen`; `None` where no number does, or it is
/// too large to count.
///
/// The width of an interval falls with the square root of the number of trials that it rests on (Cochran, "Sampling
/// Techniques", 1977, section 4.4). It takes for granted that the noise to come is that of the trials so far.
pub fn trials_needed(trials: usize, seen: f64, wished: f64) -> Option<u64> {
    let needed = (trials as f64 * (seen / wished).powi(2)).ceil();
    // An f64 counts exactly up to 2^53.
    let countable = (0.0..9_007_199_254_740_992.0).contains(&needed);
    (countable && wished > 0.0 && seen >= 0.0).then_some(needed as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrected(claims: &[(f64, f64)]) -> Vec<String> {
        let claims: Vec<Claim> = claims.iter().map(|&(p, weight)| Claim { p, weight }).collect();
        holm(&claims).iter().map(|it| format!("{it:.3}")).collect()
    }

    #[test]
    fn the_clearest_pays_for_all_and_no_later_one_passes_it() {
        assert_eq!(
            corrected(&[(0.03, 1.0), (0.01, 1.0), (0.04, 1.0)]),
            ["0.060", "0.030", "0.060"]
        );
        assert_eq!(corrected(&[(0.9, 1.0), (0.8, 1.0)]), ["1.000", "1.000"]);
        assert_eq!(corrected(&[(0.02, 1.0)]), ["0.020"]);
        assert!(corrected(&[]).is_empty());
    }

    #[test]
    fn a_heavier_test_pays_less() {
        assert_eq!(
            corrected(&[(0.01, 0.5), (0.5, 0.25), (0.5, 0.25)]),
            ["0.020", "1.000", "1.000"]
        );
        assert_eq!(
            corrected(&[(0.01, 0.5), (0.01, 0.25), (0.5, 0.25)]),
            ["0.020", "0.020", "0.500"]
        );
    }

    /// With normal noise, 5 % and a power of 80 % it is the 2.8 of the textbooks.
    #[test]
    fn it_is_the_textbooks_multiple_of_the_error() {
        let many = detectable_effect(1.0, 1000, 0.05, 0.2);
        assert!((many - 2.802).abs() < 0.01, "{many}");
        let few = detectable_effect(0.1, 10, 0.01, 0.05);
        assert!((few - (3.250 + 1.833) * 0.1).abs() < 1e-3, "{few}");
    }

    #[test]
    fn half_the_width_takes_four_times_the_trials() {
        assert_eq!(trials_needed(20, 0.6, 0.3), Some(80));
        assert_eq!(trials_needed(20, 0.3, 0.6), Some(5));
        assert_eq!(trials_needed(20, 0.0, 0.1), Some(0));
    }

    #[test]
    fn an_absurd_wish_takes_no_number_of_trials() {
        for wished in [0.0, -1.0, f64::NAN, 1e-300] {
            assert_eq!(trials_needed(20, 0.6, wished), None, "{wished}");
        }
        assert_eq!(trials_needed(20, f64::INFINITY, 0.1), None);
    }
}
