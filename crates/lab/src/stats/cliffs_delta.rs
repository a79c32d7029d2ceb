//! Effect size: how often a value of one sample is above one of the other.
//!
//! Cliff, "Dominance Statistics: Ordinal Analyses to Answer Ordinal Questions", Psychological Bulletin 114 (1993).

use super::Sample;

/// The share of pairs in which the value of `b` is the higher one, less the share in which that of `a` is: from -1, all
/// of `b` below all of `a`, to 1.
pub fn cliffs_delta(a: &Sample, b: &Sample) -> f64 {
    let sorted = a.sorted();
    let above = |value: &f64| {
        let below = sorted.partition_point(|it| it < value) as f64;
        let up_to = sorted.partition_point(|it| it <= value) as f64;
        below + up_to - a.len() as f64
    };
    b.sorted().iter().map(above).sum::<f64>() / (a.len() as f64 * b.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_which_of_each_pair_is_the_higher_one() {
        let of = |a: &[f64], b: &[f64]| {
            cliffs_delta(&Sample::new(a.to_vec()).unwrap(), &Sample::new(b.to_vec()).unwrap())
        };
        assert_eq!(of(&[1.0, 2.0], &[3.0, 4.0]), 1.0);
        assert_eq!(of(&[3.0, 4.0], &[1.0, 2.0]), -1.0);
        assert_eq!(of(&[1.0, 2.0], &[2.0, 1.0]), 0.0);
        assert_eq!(of(&[1.0], &[1.0, 2.0]), 0.5);
    }
}
