//! The mean of what is left when the lowest and the highest fifth are set aside, and how sure it is.
//!
//! Tukey and McLaughlin, "Less Vulnerable Confidence and Significance Procedures for Location Based on a Single Sample:
//! Trimming/Winsorization 1", Sankhya A 25 (1963); 20 % as Wilcox, "Introduction to Robust Estimation and Hypothesis
//! Testing", section 3.3, recommends: it loses little where values are normal and little where their tails are heavy.

use super::Sample;

/// The share that is set aside at either end.
pub(super) const TRIMMED: f64 = 0.2;

/// The mean of the middle three fifths.
pub fn trimmed_mean(sample: &Sample) -> f64 {
    let kept = middle(sample);
    kept.iter().sum::<f64>() / kept.len() as f64
}

/// The standard error of [`trimmed_mean`]: 0 for a single value.
pub fn standard_error(sample: &Sample) -> f64 {
    (squares(sample) / (sample.len().saturating_sub(1).max(1) as f64 * sample.len() as f64)).sqrt()
        / (1.0 - 2.0 * TRIMMED)
}

/// How many values are set aside at either end of `n`.
pub(super) fn trimmed_of(n: usize) -> usize {
    (n as f64 * TRIMMED) as usize
}

/// The sum of squared distances from the mean after winsorizing: what would be set aside takes the value of its nearest
/// neighbour that is kept.
pub(super) fn squares(sample: &Sample) -> f64 {
    let kept = middle(sample);
    let (Some(low), Some(high)) = (kept.first(), kept.last()) else { return 0.0 };
    let values = || sample.sorted().iter().map(|it| it.clamp(*low, *high));
    let mean = values().sum::<f64>() / sample.len() as f64;
    values().map(|it| (it - mean).powi(2)).sum()
}

fn middle(sample: &Sample) -> &[f64] {
    let trimmed = trimmed_of(sample.len());
    &sample.sorted()[trimmed..sample.len() - trimmed]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.to_vec()).unwrap()
    }

    #[test]
    fn a_fifth_at_either_end_is_set_aside() {
        assert_eq!(trimmed_mean(&sample(&[1e9, 2.0, 3.0, 4.0, -1e9])), 3.0);
        assert_eq!(trimmed_mean(&sample(&[1.0, 2.0, 3.0, 10.0])), 4.0);
        assert_eq!(trimmed_mean(&sample(&[7.0])), 7.0);
    }

    /// Winsorized to 2, 2, 3, 4, 4: the squares are 4, and sqrt(4 / 4 / 5) / 0.6.
    #[test]
    fn the_standard_error_is_that_of_winsorized_values() {
        let error = standard_error(&sample(&[1e9, 2.0, 3.0, 4.0, -1e9]));
        assert!((error - 0.2_f64.sqrt() / 0.6).abs() < 1e-12, "{error}");
        assert_eq!(standard_error(&sample(&[7.0])), 0.0);
    }
}
