//! From numbers to evidence, from the evidence of several measures to claims, and how much of a change the clock explains.
//! Numbers are logarithms of slowness.

use super::{LEVEL, MISSED, Measure};
use crate::known::Known;
use crate::stats::{
    CONFIDENCE, Claim, Interval, Sample, Unfit, detectable_effect, hodges_lehmann, holm,
    signed_rank, standard_error, walsh_interval, yuen,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What differences of blocks, B less A, say. `pairs` is how many trials of either arm are in them.
///
/// Errors: fewer than 8 blocks, in which even differences of one sign are no claim at half of [`LEVEL`].
pub fn judge_differences(differences: &Sample, pairs: usize) -> Result<Evidence, Unfit> {
    let n = differences.len();
    if n < LEAST_BLOCKS {
        return Err(Unfit::TooFew { have: n, needed: LEAST_BLOCKS });
    }
    let interval = walsh_interval(differences, CONFIDENCE)?;
    Ok(Evidence {
        change: hodges_lehmann(differences).exp_m1(),
        interval: interval.map(f64::exp_m1),
        p: signed_rank(differences),
        pairs,
        detectable: detectable_effect(standard_error(differences), n, LEVEL / 2.0, MISSED).exp_m1(),
    })
}

/// What the trials of two moments say.
///
/// Errors: an arm has fewer than 5 trials.
pub fn judge_moments(a: &Sample, b: &Sample) -> Result<Evidence, Unfit> {
    let found = yuen(a, b, CONFIDENCE)?;
    let detectable =
        detectable_effect(found.standard_error, found.degrees + 1, LEVEL / 2.0, MISSED);
    Ok(Evidence {
        change: found.difference.exp_m1(),
        interval: found.interval.map(f64::exp_m1),
        p: found.p,
        pairs: a.len().min(b.len()),
        detectable: detectable.exp_m1(),
    })
}

/// Two chances in 2^8 are less than one in 100, two in 2^7 are more.
pub(crate) const LEAST_BLOCKS: usize = 8;

/// What [`yuen`] needs.
pub(crate) const LEAST_TRIALS: usize = 5;

/// What one measure says of B against A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// How much slower B is than A, as a share of A; less than 0 is faster.
    pub change: f64,
    /// Where the true change lies with a confidence of 95 %.
    pub interval: Interval,
    /// The chance of such evidence where there is no difference.
    #[schemars(range(min = 0, max = 1))]
    pub p: f64,
    /// Pairs of trials that it rests on; of two moments, the trials of the arm that has fewer.
    pub pairs: usize,
    /// The smallest change that would have been claimed with a chance of 95 %.
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
            // A measure alone gets half of the level, as it does among others: a missing clock must not change the claim.
            let corrected_p = if alone { (2.0 * corrected).min(1.0) } else { corrected };
            let is_clear = corrected_p < LEVEL && !evidence.interval.contains(0.0);
            Reading { measure, evidence, corrected_p, is_claimed: is_clear && !is_forbidden }
        })
        .collect()
}

/// How the change of the main figure is made up. Shares are of A: -0.0073 is 0.73 percent less than A.
///
/// Work that takes a fixed number of cycles takes a time that falls with the clock: then time by clock is constant, and the
/// clock explains the whole difference. In logarithms a change of time is the sum of a change of cycles and one of the
/// time of a cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockShare {
    /// What the clock alone would have changed.
    pub by_clock: f64,
    /// What is left when the clock is taken out: the change of cycles.
    pub left: f64,
    /// The part of the change that the clock makes up, in logarithms: 1 is all of it; above 1 or below 0 the cycles
    /// changed the other way. Missing where the result changed too little to have parts.
    pub part: Known<f64>,
    /// Whether the cycles are constant within 3 % while the clock changed by more.
    pub explains_all: bool,
}

/// Elapsed time by clock of the published tests with turbo, C-states and governors varies by 2.5 % from its middle where
/// the clock varies by a factor of three: their clock was read with three digits, and their work is not all in the core.
pub const CONSTANT: f64 = 0.03;

impl ClockShare {
    /// Of readings that hold the main figure, its cycles and the clock.
    pub(super) fn of(evidence: &[(Measure, Evidence)]) -> Known<ClockShare> {
        let change =
            |measure| evidence.iter().find(|it| it.0 == measure).map(|it| it.1.change.ln_1p());
        let changes =
            (change(Measure::Figure), change(Measure::FigureCycles), change(Measure::Clock));
        let (Some(figure), Some(cycles), Some(clock)) = changes else {
            return Known::missing("the clock is unknown in too many trials");
        };
        Known::Value(ClockShare::between(figure, cycles, clock))
    }

    /// Of changes in logarithms.
    pub(crate) fn between(figure: f64, cycles: f64, clock: f64) -> ClockShare {
        let part = if figure.abs() < LEAST_CHANGE {
            Known::missing("the result changed too little to have parts")
        } else {
            Known::Value(clock / figure)
        };
        let left = cycles.exp_m1();
        let by_clock = clock.exp_m1();
        let explains_all = left.abs() <= CONSTANT && by_clock.abs() > CONSTANT;
        ClockShare { by_clock, left, part, explains_all }
    }
}

/// Half a percent: parts of less are ratios of noise.
const LEAST_CHANGE: f64 = 0.005;

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
