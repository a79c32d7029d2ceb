//! Numbers that statistics are made of, and the intervals that they give.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// At least one number, all finite, in the order in which they were taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    in_order: Vec<f64>,
    sorted: Vec<f64>,
}

/// Why a statistic cannot be made of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// There are too few.
    #[error("{have} where at least {needed} are needed")]
    TooFew {
        /// How many there are.
        have: usize,
        /// How many it takes.
        needed: usize,
    },
    /// One is infinite or not a number.
    #[error("one of {of} numbers is not finite")]
    NotFinite {
        /// How many there are.
        of: usize,
    },
}

impl Sample {
    /// The values, unless there are none or one is not finite.
    pub fn new(in_order: Vec<f64>) -> Result<Sample, Unfit> {
        if in_order.is_empty() {
            return Err(Unfit::TooFew { have: 0, needed: 1 });
        }
        if !in_order.iter().all(|it| it.is_finite()) {
            return Err(Unfit::NotFinite { of: in_order.len() });
        }
        let mut sorted = in_order.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        Ok(Sample { in_order, sorted })
    }

    /// As they were taken.
    pub fn in_order(&self) -> &[f64] {
        &self.in_order
    }

    /// The values in ascending order.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// How many there are; never 0.
    #[expect(clippy::len_without_is_empty, reason = "a sample is never empty")]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// The mean of the values, and the sum of their squared distances from it.
    pub(super) fn mean_and_squares(&self) -> (f64, f64) {
        let mean = self.in_order.iter().sum::<f64>() / self.len() as f64;
        (mean, self.in_order.iter().map(|it| (it - mean).powi(2)).sum())
    }

    /// The sample, where it has at least `needed` values.
    pub(super) fn at_least(&self, needed: usize) -> Result<&Sample, Unfit> {
        if self.len() < needed {
            return Err(Unfit::TooFew { have: self.len(), needed });
        }
        Ok(self)
    }

    /// The sample with every value less `center`.
    pub(super) fn less(&self, center: f64) -> Sample {
        let less = |values: &[f64]| values.iter().map(|it| it - center).collect();
        Sample { in_order: less(&self.in_order), sorted: less(&self.sorted) }
    }

    /// The sample with every value moved into these limits.
    pub(super) fn clamped(&self, low: f64, high: f64) -> Sample {
        let clamped = |values: &[f64]| values.iter().map(|it| it.clamp(low, high)).collect();
        Sample { in_order: clamped(&self.in_order), sorted: clamped(&self.sorted) }
    }

    /// The values of both, those of `later` after those of this one.
    pub(super) fn joined(&self, later: &Sample) -> Sample {
        let in_order = [&*self.in_order, &later.in_order].concat();
        let mut sorted = in_order.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        Sample { in_order, sorted }
    }

    /// The value below which `share` of the others lie, on a line between its neighbours: definition 7 of Hyndman and
    /// Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996).
    pub fn quantile(&self, share: f64) -> f64 {
        quantile(&self.sorted, share)
    }
}

/// [`Sample::quantile`] of values that are sorted already and not empty.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = (place as usize).min(last);
    let above = (below + 1).min(last);
    let part = place - below as f64;
    sorted[below] * (1.0 - part) + sorted[above] * part
}

/// From where to where, both ends included, in the unit of the estimate; null where an end is infinite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The lower end of the interval.
    #[schemars(with = "Option<f64>")]
    pub low: f64,
    /// The upper end of the interval.
    #[schemars(with = "Option<f64>")]
    pub high: f64,
}

impl Interval {
    /// Half of its length.
    pub fn half_width(self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether `value` is in it.
    pub fn contains(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Both ends after `change`, which must not fall where its argument rises.
    #[must_use]
    pub fn map(self, change: impl Fn(f64) -> f64) -> Interval {
        Interval { low: change(self.low), high: change(self.high) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_no_statistic_can_be_made_of_are_refused() {
        let refused = |values: &[f64]| Sample::new(values.to_vec()).unwrap_err().to_string();
        assert_eq!(refused(&[]), "0 where at least 1 are needed");
        assert_eq!(refused(&[1.0, f64::NAN]), "one of 2 numbers is not finite");
        assert_eq!(refused(&[1.0, f64::INFINITY]), "one of 2 numbers is not finite");
    }

    #[test]
    fn clamped_and_joined_samples_keep_their_order() {
        let first = Sample::new(vec![5.0, 1.0, 9.0]).unwrap();
        assert_eq!(first.clamped(2.0, 6.0), Sample::new(vec![5.0, 2.0, 6.0]).unwrap());
        let second = Sample::new(vec![3.0]).unwrap();
        assert_eq!(first.joined(&second), Sample::new(vec![5.0, 1.0, 9.0, 3.0]).unwrap());
    }

    #[test]
    fn a_quantile_lies_on_the_line_between_its_neighbours() {
        let sample = Sample::new(vec![40.0, 10.0, 30.0, 20.0]).unwrap();
        let quantiles = [-1.0, 0.0, 0.25, 0.5, 1.0, 2.0].map(|share| sample.quantile(share));
        assert_eq!(quantiles, [10.0, 10.0, 17.5, 25.0, 40.0, 40.0]);
        assert_eq!(sample.in_order(), [40.0, 10.0, 30.0, 20.0]);
    }
}
