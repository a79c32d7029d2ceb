//! Robust spread: the median of the distances from the median.
//!
//! Hampel, "The Influence Curve and Its Role in Robust Estimation", JASA 69 (1974). Like the median it withstands
//! anything in up to half of the values; it is 0 where more than half of them are equal.

use super::{Sample, median};

/// One over the third quartile of the normal distribution.
const OF_NORMAL: f64 = 1.482_602_218_505_602;

/// The median distance from the median, scaled so that it is the standard deviation where the values are normal.
pub fn median_deviation(sample: &Sample) -> f64 {
    let center = median(sample);
    let mut distances: Vec<f64> = sample.sorted().iter().map(|it| (it - center).abs()).collect();
    distances.sort_unstable_by(f64::total_cmp);
    OF_NORMAL * super::sample::quantile(&distances, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wild_value_does_not_widen_the_spread() {
        let of = |values: &[f64]| median_deviation(&Sample::new(values.to_vec()).unwrap());
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 5.0]), OF_NORMAL);
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 1e9]), OF_NORMAL);
        assert_eq!(of(&[4.0]), 0.0);
    }
}
