//! One measure of both arms.

use super::{LEVEL, Measure};
use crate::stats::{Claim, Interval, holm};
use serde::{Deserialize, Serialize};

/// What one measure says of B against A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// What was measured.
    pub measure: Measure,
    /// What its numbers say.
    #[serde(flatten)]
    pub evidence: Evidence,
    /// The chance of such evidence where there is no difference, corrected for there being several measures.
    pub corrected_p: f64,
    /// Whether a difference may be claimed.
    pub is_claimed: bool,
}

/// What the numbers of one measure say, alone. Shares are of A: -0.0073 is 0.73 percent less than A.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// How much slower B is than A, as a share of A; less than 0 is faster.
    pub change: f64,
    /// Where the true change lies with a confidence of [`crate::stats::CONFIDENCE`].
    pub interval: Interval,
    /// The chance of such evidence where there is no difference.
    pub p: f64,
    /// Pairs of trials that it rests on; of two moments, the trials of the arm that has fewer.
    pub pairs: usize,
    /// The smallest change that would have been claimed, but for a chance of [`super::MISSED`].
    pub detectable: f64,
}

/// Readings of `measures`, the quietest first, claimed where all of them together allow it.
pub(super) fn readings(measures: Vec<(Measure, Evidence)>, is_forbidden: bool) -> Vec<Reading> {
    let weight = |at: usize| if at == 0 { 1.0 } else { 1.0 / (measures.len() - 1) as f64 };
    let claims: Vec<Claim> = measures
        .iter()
        .enumerate()
        .map(|(at, (_, evidence))| Claim { p: evidence.p, weight: weight(at) })
        .collect();
    let alone = measures.len() == 1;
    measures
        .into_iter()
        .zip(holm(&claims))
        .map(|((measure, evidence), corrected)| {
            // Alone, a measure has the half of the level that it has beside others: no more may hang on a missing clock.
            let corrected_p = if alone { (2.0 * corrected).min(1.0) } else { corrected };
            let is_clear = corrected_p < LEVEL && !evidence.interval.contains(0.0);
            Reading { measure, evidence, corrected_p, is_claimed: is_clear && !is_forbidden }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claimed(ps: &[f64]) -> Vec<bool> {
        let evidence = |p| Evidence {
            change: 0.01,
            interval: Interval { low: 0.005, high: 0.015 },
            p,
            pairs: 20,
            detectable: 0.01,
        };
        let measures = ps.iter().map(|it| (Measure::Figure, evidence(*it))).collect();
        readings(measures, false).iter().map(|it| it.is_claimed).collect()
    }

    #[test]
    fn the_quietest_measure_has_half_of_the_level_and_passes_it_on_when_it_is_claimed() {
        assert_eq!(claimed(&[0.0099, 0.9, 0.9]), [true, false, false]);
        assert_eq!(claimed(&[0.0101, 0.9, 0.9]), [false, false, false]);
        assert_eq!(claimed(&[0.0099, 0.0099, 0.9]), [true, true, false]);
        assert_eq!(claimed(&[0.9, 0.0099, 0.9]), [false, false, false]);
        assert_eq!(claimed(&[0.0099]), [true]);
        assert_eq!(claimed(&[0.0101]), [false]);
        assert!(claimed(&[]).is_empty());
    }
}
