//! How many trials a wished precision takes.
//!
//! The width of an interval falls with the square root of the number of trials that it rests on (Cochran, "Sampling
//! Techniques", 1977, section 4.4). It takes for granted that the noise to come is that of the trials so far.

/// How many trials in all make the half-width `wished` where `trials` made it `seen`: `None` where no number does, or
/// nobody could count it.
pub fn trials_needed(trials: usize, seen: f64, wished: f64) -> Option<u64> {
    let needed = (trials as f64 * (seen / wished).powi(2)).ceil();
    // An f64 counts exactly up to 2^53.
    let countable = (0.0..9_007_199_254_740_992.0).contains(&needed);
    (countable && wished > 0.0 && seen >= 0.0).then_some(needed as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

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
