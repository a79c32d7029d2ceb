//! A range that holds the truth with a known confidence.

use serde::{Deserialize, Serialize};

/// From where to where, both ends included, in the unit of the estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
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

    /// Stretched about `center` by `factor`.
    #[must_use]
    pub(super) fn stretched(self, center: f64, factor: f64) -> Interval {
        self.map(|end| center + (end - center) * factor)
    }
}
