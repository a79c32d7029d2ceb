//! How much trials resemble the one before.

use super::Sample;

/// The correlation of each value with the one before it: 0 for fewer than 4 values and for equal ones.
///
/// Lag-1 autocorrelation with the correction for short series of Marriott and Pope, "Bias in the Estimation of
/// Autocorrelations", Biometrika 41 (1954). It cannot see what changes more slowly than the series is long.
pub fn lag_one(sample: &Sample) -> f64 {
    let values = sample.in_order();
    let n = values.len() as f64;
    let (mean, squares) = sample.mean_and_squares();
    if values.len() < 4 || squares <= 0.0 {
        return 0.0;
    }
    let products: f64 = values.windows(2).map(|it| (it[0] - mean) * (it[1] - mean)).sum();
    let raw = products / squares;
    (raw + (1.0 + 4.0 * raw) / n).clamp(-MOST_CORRELATION, MOST_CORRELATION)
}

/// The number of independent values that say as much about the mean as these, from 1 to their number, with the lag-1 correlation
/// raised by so many of its standard errors, `1/sqrt(n)`: what short series show of it is too low about as often as too high, and
/// too low makes an interval too narrow. Values that resemble the one before less than by chance count as one each.
pub(super) fn careful_size(sample: &Sample, standard_errors: f64) -> f64 {
    let n = sample.len() as f64;
    let raised = (lag_one(sample) + standard_errors / n.sqrt()).clamp(0.0, MOST_CORRELATION);
    (n * (1.0 - raised) / (1.0 + raised)).clamp(1.0_f64.min(n), n)
}

/// At 1 the effective size of any sample would be 0.
const MOST_CORRELATION: f64 = 0.99;

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: impl Iterator<Item = f64>) -> Sample {
        Sample::new(values.collect()).unwrap()
    }

    #[test]
    fn a_slope_resembles_itself_and_a_zigzag_does_not() {
        let slope = sample((0..100).map(f64::from));
        assert!(lag_one(&slope) > 0.95 && careful_size(&slope, 0.0) < 3.0);
        let zigzag = sample((0..100).map(|it| f64::from(it % 2)));
        assert!(lag_one(&zigzag) < -0.9);
        assert_eq!(careful_size(&zigzag, 1.0), 100.0);
    }

    #[test]
    fn equal_values_and_few_values_show_no_resemblance() {
        assert_eq!(lag_one(&sample((0..50).map(|_| 2.5))), 0.0);
        assert_eq!(lag_one(&sample((0..3).map(f64::from))), 0.0);
        assert_eq!(careful_size(&sample((0..1).map(f64::from)), 0.0), 1.0);
    }
}
