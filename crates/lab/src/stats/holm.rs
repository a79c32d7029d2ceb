//! Several tests at once: how to keep the chance of any false claim under one level.
//!
//! Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6 (1979), with the
//! weights of its section 4. It needs no independence of the tests.

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
}
