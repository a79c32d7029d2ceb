//! The mean of a sample, with Student's interval and test.

use super::{Interval, Sample, Unfit, distributions};

/// The mean of a sample with its test against 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean of the values.
    pub mean: f64,
    /// The standard error of the mean.
    pub standard_error: f64,
    /// The interval that holds the true mean.
    pub interval: Interval,
    /// The chance of a mean as far from 0 if the true mean is 0.
    pub p: f64,
}

/// The mean, with an interval that holds the true one with this confidence.
///
/// Errors: fewer than `needed` values, or than the two without which there is no spread.
///
/// Student, "The Probable Error of a Mean", Biometrika 6 (1908). Applied to contrasts of blocks it is the test of Box, Hunter
/// and Hunter, "Statistics for Experimenters", second edition, sections 3.2 and 4.2: the order within a block is random, so
/// blocks are independent of each other; contrasts are sums of many trials, so they are nearly normal.
pub fn mean(sample: &Sample, confidence: f64, needed: usize) -> Result<Mean, Unfit> {
    let n = sample.at_least(needed.max(2))?.len() as f64;
    let (mean, squares) = sample.mean_and_squares();
    let standard_error = (squares / (n - 1.0) / n).sqrt();
    Ok(Mean {
        mean,
        standard_error,
        interval: around(mean, standard_error, n - 1.0, confidence),
        p: distributions::beyond(mean / standard_error, n - 1.0),
    })
}

/// Student's interval about an estimate with this standard error and these degrees of freedom.
pub(super) fn around(
    estimate: f64,
    standard_error: f64,
    degrees: f64,
    confidence: f64,
) -> Interval {
    let half = distributions::t_quantile(1.0 - confidence, degrees) * standard_error;
    Interval { low: estimate - half, high: estimate + half }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Result<Mean, Unfit> {
        mean(&Sample::new(values.to_vec()).unwrap(), 0.95, 3)
    }

    /// The differences of two materials for the soles of ten boys' shoes in that book; their mean is 0.41, its error 0.12 and t 3.4, with 9 degrees of freedom.
    #[test]
    fn the_boys_shoes_differ_as_in_the_book() {
        let found = of(&[0.8, 0.6, 0.3, -0.1, 1.1, -0.2, 0.3, 0.5, 0.5, 0.3]).unwrap();
        assert!((found.mean - 0.41).abs() < 1e-12, "{found:?}");
        assert!((found.standard_error - 0.1224).abs() < 1e-4, "{found:?}");
        assert!((found.p - 0.0085).abs() < 1e-4, "{found:?}");
        assert!((found.interval.low - 0.133).abs() < 1e-3, "{found:?}");
        assert!((found.interval.high - 0.687).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn too_few_have_no_mean_and_equal_ones_have_no_doubt() {
        assert_eq!(of(&[1.0, 1.0]).unwrap_err().to_string(), "2 where at least 3 are needed");
        assert_eq!(of(&[1.0; 3]).unwrap().p, 0.0);
        assert_eq!(of(&[0.0; 3]).unwrap().p, 1.0);
    }
}
