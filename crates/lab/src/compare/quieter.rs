//! Which measure has the least noise.
//!
//! Chosen by how far the sizes of the differences lie apart, whatever their sign: a coin that swaps the arms of a block
//! changes only the sign, so the choice is the same for all choices of signs, and a test of the chosen measure
//! stays exact (Westfall and Young, "Resampling-Based Multiple Testing", 1993, section 2.2). A difference that all blocks
//! share makes sizes larger and not more unlike, so it is not mistaken for noise.

use crate::stats::{Sample, median_deviation};

/// The place of the sample whose sizes lie closest together; the first of equals. `None` of none.
pub fn quieter(differences: &[&Sample]) -> Option<usize> {
    let noise = |sample: &&Sample| {
        let sizes = Sample::new(sample.in_order().iter().map(|it| it.abs()).collect());
        sizes.map_or(f64::INFINITY, |it| median_deviation(&it))
    };
    let noises: Vec<f64> = differences.iter().map(noise).collect();
    (0..noises.len()).min_by(|left, right| noises[*left].total_cmp(&noises[*right]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.to_vec()).unwrap()
    }

    #[test]
    fn a_large_difference_that_all_share_is_no_noise() {
        let steady = sample(&[5.0, 5.1, 4.9, 5.0, 5.1]);
        let noisy = sample(&[1.0, -2.0, 0.5, 3.0, 0.0]);
        assert_eq!(quieter(&[&noisy, &steady]), Some(1));
        assert_eq!(quieter(&[]), None);
    }

    #[test]
    fn signs_do_not_change_the_choice() {
        let one = [&sample(&[1.0, 2.0, 3.0]), &sample(&[1.0, 5.0, 9.0])];
        let flipped = [&sample(&[-1.0, 2.0, -3.0]), &sample(&[-1.0, 5.0, -9.0])];
        assert_eq!(quieter(&one), quieter(&flipped));
    }
}
