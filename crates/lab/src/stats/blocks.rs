//! The difference of two arms in blocks whose order chance decided.

use super::{Estimate, Sample, Unfit, hodges_lehmann, mean, walsh_interval};

/// The middle of the differences of blocks, with an interval that holds the true one with this confidence: at 99 %, Hodges and
/// Lehmann's with Walsh's from 8 blocks on, and the mean with Student's for 4 to 7; at a higher confidence, from as
/// many blocks on as that takes.
///
/// Errors: fewer than 4 blocks.
///
/// Signed ranks rest on the drawn order alone (see [`signed_rank`](super::signed_rank())), but so few have no interval of 99 %. Student's t
/// of 4 to 7 differences claimed a difference in 0.1 to 1.4 % of simulated experiments without one, with every noise tried
/// (benches/simulation.md).
pub fn of_blocks(differences: &Sample, confidence: f64) -> Result<Estimate, Unfit> {
    let n = differences.at_least(LEAST_BLOCKS)?.len();
    if n < ranked_from(confidence) {
        let found = mean(differences, confidence, LEAST_BLOCKS)?;
        return Ok(Estimate { value: found.mean, interval: found.interval });
    }
    let interval = walsh_interval(differences, confidence)?;
    Ok(Estimate { value: hodges_lehmann(differences), interval })
}

/// Three differences claim what is not there in up to 2.4 % of experiments.
pub const LEAST_BLOCKS: usize = 4;

/// The fewest blocks whose signs alone, all alike, have no more than the chance that is left.
fn ranked_from(confidence: f64) -> usize {
    (2.0 / (1.0 - confidence)).log2().ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(n: u32) -> Sample {
        Sample::new((1..=n).map(f64::from).collect()).unwrap()
    }

    #[test]
    fn eight_blocks_are_ranked_at_99_percent_and_twice_the_comparisons_take_one_more() {
        assert_eq!(ranked_from(0.99), 8);
        for (comparisons, more) in [(2, 1), (4, 2), (16, 4)] {
            assert_eq!(ranked_from(1.0 - 0.01 / f64::from(comparisons)), 8 + more);
        }
        let whole = of_blocks(&blocks(8), 0.99).unwrap();
        assert_eq!((whole.value, whole.interval.low, whole.interval.high), (4.5, 1.0, 8.0));
    }

    /// The mean of 1 to 7 is 4, its error 0.8165, and t of 1 % with 6 degrees 3.707.
    #[test]
    fn four_to_seven_have_students_interval() {
        let found = of_blocks(&blocks(7), 0.99).unwrap();
        assert!((found.value - 4.0).abs() < 1e-12);
        assert!((found.interval.half_width() - 3.7074 * 0.816_497).abs() < 1e-3, "{found:?}");
        assert!(of_blocks(&blocks(4), 0.99).is_ok());
        assert_eq!(of_blocks(&blocks(3), 0.99), Err(Unfit::TooFew { have: 3, needed: 4 }));
    }
}
