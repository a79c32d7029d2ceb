//! Values that lie far from the others.
//!
//! Iglewicz and Hoaglin, "How to Detect and Handle Outliers", ASQC 1993: farther from the median than 3.5 scaled median
//! deviations. They are reported and count all the same: a slow trial is a fact about the machine.

use super::{Sample, median, median_deviation};

/// The places of the outliers, in the order in which the values were taken; none where more than half of the values
/// are equal.
pub fn outliers(sample: &Sample) -> Vec<usize> {
    let (center, spread) = (median(sample), median_deviation(sample));
    if spread <= 0.0 {
        return Vec::new();
    }
    let is_far = |value: f64| (value - center).abs() > FAR * spread;
    (0..).zip(sample.in_order()).filter(|(_, value)| is_far(**value)).map(|(at, _)| at).collect()
}

const FAR: f64 = 3.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_far_from_the_others_is_named_by_its_place() {
        let of = |values: &[f64]| outliers(&Sample::new(values.to_vec()).unwrap());
        assert_eq!(of(&[10.0, 11.0, 90.0, 9.0, 10.5, 9.5]), [2]);
        assert_eq!(of(&[10.0, 11.0, 9.0]), [0; 0]);
        assert_eq!(of(&[5.0, 5.0, 5.0, 900.0]), [0; 0]);
    }
}
