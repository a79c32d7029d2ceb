//! Robust spread: the length that holds the middle half of the values.
//!
//! Tukey, "Exploratory Data Analysis", 1977, chapter 2. It withstands anything in a quarter of the values, and unlike the
//! median deviation it does not take them for symmetric.

use super::Sample;

/// The third quartile less the first.
pub fn interquartile_range(sample: &Sample) -> f64 {
    sample.quantile(0.75) - sample.quantile(0.25)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_half_decides() {
        let of = |values: &[f64]| interquartile_range(&Sample::new(values.to_vec()).unwrap());
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 5.0]), 2.0);
        assert_eq!(of(&[-1e9, 2.0, 3.0, 4.0, 1e9]), 2.0);
    }
}
