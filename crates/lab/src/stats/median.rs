//! The middle value.
//!
//! Up to half of the values can be anything without moving it beyond the others (Huber, "Robust Statistics", 1981,
//! section 1.4).

use super::Sample;

/// The middle value, or the middle between the two middle ones.
pub fn median(sample: &Sample) -> f64 {
    sample.quantile(0.5)
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
}
