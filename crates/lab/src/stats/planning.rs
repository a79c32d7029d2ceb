//! Planning: how many trials an aim takes.

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

/// The number of blocks that shows a difference of `sought` in 19 of 20 attempts, where `blocks` gave an interval of this
/// half-width at 99 %; `None` where no number does, or it is too large to count.
///
/// A difference is shown where the interval leaves 0 out: in half of all attempts if the difference is as large as the
/// half-width, of 2.58 standard errors where blocks are many, and in 95 % if it is 1.64 errors larger, which is 1.64 half-widths
/// (Cochran, "Sampling Techniques", 1977, section 4.6, for a given error of both kinds). With fewer than 20 blocks
/// it errs to the safe side: their half-width is that of Student's t.
pub fn blocks_to_show(blocks: usize, half_width: f64, sought: f64) -> Option<u64> {
    trials_needed(blocks, OF_HALF_WIDTHS * half_width, sought)
}

const OF_HALF_WIDTHS: f64 = 1.64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_width_takes_four_times_the_trials() {
        assert_eq!(trials_needed(20, 0.6, 0.3), Some(80));
        assert_eq!(trials_needed(20, 0.3, 0.6), Some(5));
        assert_eq!(trials_needed(20, 0.0, 0.1), Some(0));
    }

    /// The sentence of a comparison of 20 blocks that are known to 0.4 %.
    #[test]
    fn a_difference_of_the_half_width_takes_nearly_three_times_the_blocks() {
        assert_eq!(blocks_to_show(20, 0.004, 0.004), Some(54));
        assert_eq!(blocks_to_show(20, 0.004, 0.008), Some(14));
        assert_eq!(blocks_to_show(20, 0.004, 0.0), None);
    }

    #[test]
    fn an_absurd_wish_takes_no_number_of_trials() {
        for wished in [0.0, -1.0, f64::NAN, 1e-300] {
            assert_eq!(trials_needed(20, 0.6, wished), None, "{wished}");
        }
        assert_eq!(trials_needed(20, f64::INFINITY, 0.1), None);
    }
}
