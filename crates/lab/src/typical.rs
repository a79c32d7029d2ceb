//! What a typical trial of one arm has.

use crate::known::Known;
use crate::stats::{Interval, Sample, one_sample, trimmed_mean};
use crate::verdict::confidence;

/// Half of an interval as a share of the value it is of; `None` of 0.
pub(crate) fn precision(value: f64, interval: Interval) -> Option<f64> {
    Some(interval.half_width() / value.abs()).filter(|it| it.is_finite())
}

/// What a typical trial has, and how well that is known.
///
/// The trimmed mean of the logarithms, turned back, with the interval of [`one_sample`]: noise that grows with the value is the
/// same everywhere then, as in comparisons. Where a value is 0 or below it has no logarithm, and both are of the values
/// themselves. It is not what trials take on average: rare slow ones do not show in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Typical {
    /// The estimate.
    pub(crate) value: f64,
    /// Holds the true one; missing of fewer than five values.
    pub(crate) interval: Known<Interval>,
    /// The chance that it does: that of any single interval.
    pub(crate) confidence: f64,
}

impl Typical {
    /// That of the values of one arm, in the order in which they were taken.
    pub(crate) fn of(values: &Sample) -> Typical {
        let logarithms = values.in_order().iter().map(|it| it.ln()).collect();
        // A logarithm of 0 is infinite, and that of less no number.
        match Sample::new(logarithms) {
            Ok(logarithms) => Typical::turned_back(&logarithms, f64::exp),
            Err(_) => Typical::turned_back(values, |it| it),
        }
    }

    fn turned_back(sample: &Sample, back: impl Fn(f64) -> f64) -> Typical {
        let confidence = confidence(1);
        let interval = match one_sample(sample, confidence).map(|it| it.interval.map(&back)) {
            Ok(it) if it.low.is_finite() && it.high.is_finite() => Known::Value(it),
            Ok(_) => Known::missing("the values differ too much for one"),
            Err(unfit) => Known::missing(unfit.to_string()),
        };
        Typical { value: back(trimmed_mean(sample)), interval, confidence }
    }
}
