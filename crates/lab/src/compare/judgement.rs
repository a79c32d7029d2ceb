//! From numbers to evidence, for either design. Numbers are logarithms of slowness.

use super::{Evidence, LEVEL, MISSED};
use crate::stats::{
    CONFIDENCE, Sample, Unfit, detectable_effect, hodges_lehmann, signed_rank, standard_error,
    walsh_interval, yuen,
};

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
