//! A value with the interval that belongs to it.

use super::Interval;

/// An estimate and the interval that was asked for: both of the same estimator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Holds the truth with the requested confidence.
    pub interval: Interval,
}
