//! Whether the figures moved while they were taken, and where.
//!
//! Pettitt, "A Non-parametric Approach to the Change-point Problem", Applied Statistics 28 (1979): by ranks, so that
//! outliers weigh no more than others. A slow drift shows as a change in its middle. Trials that resemble their
//! neighbours show changes that are none to come: it says that figures moved, not that they will stay.

use super::{Sample, median};

/// Where the figures changed, and by how much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The place of the first value after the change.
    pub at: usize,
    /// The median after it less the median before it.
    pub by: f64,
    /// The chance of a change as clear as this among independent values that did not change.
    pub p: f64,
}

/// The clearest change in the sample, or why there can be none: it takes 8 values.
pub fn change_point(sample: &Sample) -> Result<Change, super::Unfit> {
    let sample = sample.at_least(LEAST)?;
    let n = sample.len() as f64;
    let (mut sum, mut clearest) = (0.0, (1, 0.0_f64));
    for (at, rank) in (1..sample.len()).zip(ranks(sample)) {
        sum += 2.0 * rank - (n + 1.0);
        if sum.abs() > clearest.1.abs() {
            clearest = (at, sum);
        }
    }
    let (at, height) = clearest;
    let (before, after) = sample.in_order().split_at(at);
    let by = median(&Sample::new(after.to_vec())?) - median(&Sample::new(before.to_vec())?);
    let p = (2.0 * (-6.0 * height * height / (n * n * n + n * n)).exp()).min(1.0);
    Ok(Change { at, by, p })
}

/// The fewest values of which any change can be clear: with 7, a perfect step has p = 0.1.
const LEAST: usize = 8;

/// The rank of each value, in the order in which they were taken; equal values share the mean of their ranks.
fn ranks(sample: &Sample) -> impl Iterator<Item = f64> {
    let sorted = sample.sorted();
    sample.in_order().iter().map(|value| {
        let below = sorted.partition_point(|it| it < value);
        let up_to = sorted.partition_point(|it| it <= value);
        (below + up_to + 1) as f64 / 2.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(values: impl Iterator<Item = f64>) -> Change {
        change_point(&Sample::new(values.collect()).unwrap()).unwrap()
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let found =
            change((0..40).map(|it| f64::from(it * 7 % 5) + if it < 25 { 0.0 } else { 10.0 }));
        assert_eq!((found.at, found.by), (25, 10.0));
        assert!(found.p < 1e-5, "{found:?}");
    }

    #[test]
    fn what_does_not_move_has_no_clear_change() {
        assert!(change((0..40).map(|it| f64::from(it * 7 % 5))).p > 0.5);
        assert_eq!(change((0..40).map(|_| 3.0)).p, 1.0);
        let few = Sample::new(vec![1.0; 7]).unwrap();
        assert_eq!(change_point(&few).unwrap_err().to_string(), "7 where at least 8 are needed");
    }
}
