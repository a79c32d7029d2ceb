//! How much a trial resembles the one before it, and how many independent trials that leaves.
//!
//! Lag-1 autocorrelation with the correction for short series of Marriott and Pope, "Bias in the Estimation of
//! Autocorrelations", Biometrika 41 (1954). The effective size is that of a first-order autoregression (Bayley and
//! Hammersley, "The 'Effective' Number of Independent Observations in an Autocorrelated Time Series", Supplement to the
//! JRSS 8 (1946)). It cannot see what changes more slowly than the series is long.

use super::Sample;

/// The correlation of each value with the one before it: 0 for fewer than 4 values and for equal ones.
pub fn lag_one(sample: &Sample) -> f64 {
    let values = sample.in_order();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
    if values.len() < 4 || variance <= 0.0 {
        return 0.0;
    }
    let products: f64 = values.windows(2).map(|it| (it[0] - mean) * (it[1] - mean)).sum();
    let raw = products / variance;
    (raw + (1.0 + 4.0 * raw) / n).clamp(-MOST, MOST)
}

/// How many independent trials say as much about the mean as these: from 1 to as many as there are.
///
/// Trials that resemble the one before less than chance would count as one each, which is cautious.
pub fn effective_size(sample: &Sample) -> f64 {
    let n = sample.len() as f64;
    let resemblance = lag_one(sample).max(0.0);
    (n * (1.0 - resemblance) / (1.0 + resemblance)).clamp(1.0, n)
}

/// At 1 nothing would be left of any number of trials.
const MOST: f64 = 0.99;

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: impl Iterator<Item = f64>) -> Sample {
        Sample::new(values.collect()).unwrap()
    }

    #[test]
    fn a_slope_resembles_itself_and_a_zigzag_does_not() {
        let slope = sample((0..100).map(f64::from));
        assert!(lag_one(&slope) > 0.95 && effective_size(&slope) < 3.0);
        let zigzag = sample((0..100).map(|it| f64::from(it % 2)));
        assert!(lag_one(&zigzag) < -0.9);
        assert_eq!(effective_size(&zigzag), 100.0);
    }

    #[test]
    fn equal_values_and_few_values_show_no_resemblance() {
        assert_eq!(lag_one(&sample((0..50).map(|_| 2.5))), 0.0);
        assert_eq!(lag_one(&sample((0..3).map(f64::from))), 0.0);
        assert_eq!(effective_size(&sample((0..1).map(f64::from))), 1.0);
    }
}
