//! Robust location and spread of one sample.

use super::Sample;

/// The middle value, or the middle between the two middle ones.
///
/// Up to half of the values can be anything without moving it beyond the others (Huber, "Robust Statistics", 1981,
/// section 1.4).
pub fn median(sample: &Sample) -> f64 {
    sample.quantile(0.5)
}

/// One over the third quartile of the normal distribution.
const OF_NORMAL: f64 = 1.482_602_218_505_602;

/// The median distance from the median, scaled so that it is the standard deviation where the values are normal.
///
/// Hampel, "The Influence Curve and Its Role in Robust Estimation", JASA 69 (1974). Like the median it withstands
/// anything in up to half of the values; it is 0 where more than half of them are equal.
pub fn median_deviation(sample: &Sample) -> f64 {
    let center = median(sample);
    let mut distances: Vec<f64> = sample.sorted().iter().map(|it| (it - center).abs()).collect();
    distances.sort_unstable_by(f64::total_cmp);
    OF_NORMAL * super::sample::quantile(&distances, 0.5)
}

/// The share that is set aside at either end.
pub(super) const TRIMMED: f64 = 0.2;

/// The mean of the middle three fifths.
///
/// Tukey and McLaughlin, "Less Vulnerable Confidence and Significance Procedures for Location Based on a Single Sample:
/// Trimming/Winsorization 1", Sankhya A 25 (1963); 20 % as Wilcox, "Introduction to Robust Estimation and Hypothesis
/// Testing", section 3.3, recommends: it loses little where values are normal and little where their tails are heavy.
pub fn trimmed_mean(sample: &Sample) -> f64 {
    let kept = middle(sample);
    kept.iter().sum::<f64>() / kept.len() as f64
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
    let trimmed = (sample.len() as f64 * TRIMMED) as usize;
    &sample.sorted()[trimmed..sample.len() - trimmed]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_does_not_see_how_far_away_the_outermost_values_are() {
        let of = |values: &[f64]| median(&Sample::new(values.to_vec()).unwrap());
        assert_eq!(of(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(of(&[3.0, -1e300, 2.0, 1e300]), 2.5);
        assert_eq!(of(&[7.0]), 7.0);
    }

    #[test]
    fn one_wild_value_does_not_widen_the_spread() {
        let of = |values: &[f64]| median_deviation(&Sample::new(values.to_vec()).unwrap());
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 5.0]), OF_NORMAL);
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 1e9]), OF_NORMAL);
        assert_eq!(of(&[4.0]), 0.0);
    }

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.to_vec()).unwrap()
    }

    #[test]
    fn a_fifth_at_either_end_is_set_aside() {
        assert_eq!(trimmed_mean(&sample(&[1e9, 2.0, 3.0, 4.0, -1e9])), 3.0);
        assert_eq!(trimmed_mean(&sample(&[1.0, 2.0, 3.0, 10.0])), 4.0);
        assert_eq!(trimmed_mean(&sample(&[7.0])), 7.0);
    }

    /// Winsorized to 2, 2, 3, 4, 4.
    #[test]
    fn squares_are_those_of_winsorized_values() {
        assert!((squares(&sample(&[1e9, 2.0, 3.0, 4.0, -1e9])) - 4.0).abs() < 1e-12);
        assert_eq!(squares(&sample(&[7.0])), 0.0);
    }
}
