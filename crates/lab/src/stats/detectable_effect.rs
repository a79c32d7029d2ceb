//! The smallest difference that would have been found.
//!
//! Bloom, "Minimum Detectable Effects", Evaluation Review 19 (1995): the quantiles of Student's t for the level and for the
//! power, times the standard error. It rests on the noise that the trials had, and holds for trials as many and as
//! noisy as those.

use super::student;

/// The difference that a two-sided test at `level` misses with chance `missed` only, where the estimate has this
/// standard error and rests on `n` independent differences; in the unit of the error.
pub fn detectable_effect(standard_error: f64, n: usize, level: f64, missed: f64) -> f64 {
    let degrees = n.saturating_sub(1);
    // One of the two tails that a quantile counts holds half of them.
    (student::quantile(level, degrees) + student::quantile(2.0 * missed, degrees)) * standard_error
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With normal noise, 5 % and a power of 80 % it is the 2.8 of the textbooks.
    #[test]
    fn it_is_the_textbooks_multiple_of_the_error() {
        let many = detectable_effect(1.0, 1000, 0.05, 0.2);
        assert!((many - 2.802).abs() < 0.01, "{many}");
        let few = detectable_effect(0.1, 10, 0.01, 0.05);
        assert!((few - (3.250 + 1.833) * 0.1).abs() < 1e-3, "{few}");
    }
}
