//! How far one counter went.

use facts::counters::Family;
use facts::{Fact, Missing};

/// How far a counter went, and in what time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rise {
    /// In the counter's own unit.
    pub by: u64,
    /// Between the two readings of this very counter, in nanoseconds; never 0.
    pub over_ns: u64,
}

/// A counter of time and the clock beside it are not read at one instant; what that explains is no fault.
const APART: f64 = 0.01;

impl Rise {
    /// In the counter's unit each second.
    pub fn per_second(self) -> f64 {
        self.by as f64 * 1e9 / self.over_ns as f64
    }

    /// Of a counter of time in steps of `step_ns`: its share of the time that passed, in percent.
    ///
    /// More time than passed, beyond a hundredth and two steps, is missing; `what` says of what.
    pub fn percent(self, step_ns: u64, what: &str) -> Fact<f64> {
        let (counted, passed) = (self.by as f64 * step_ns as f64, self.over_ns as f64);
        if counted > passed * (1.0 + APART) + 2.0 * step_ns as f64 {
            let found = format!("{:.1} ms within {:.1} ms", counted / 1e6, passed / 1e6);
            return Err(Missing::malformed(what, &found, "no more time than passed"));
        }
        Ok((100.0 * counted / passed).min(100.0))
    }
}

/// The time between two readings of `CLOCK_MONOTONIC_RAW`, in nanoseconds; never 0.
pub(super) fn elapsed(from: u64, to: u64) -> Fact<u64> {
    let backwards = || {
        let found = format!("{to} after {from}");
        Missing::malformed("CLOCK_MONOTONIC_RAW", &found, "a later time at the second reading")
    };
    to.checked_sub(from).filter(|it| *it > 0).ok_or_else(backwards)
}

/// The reason for which a counter that is lower at the end says nothing.
pub(super) fn backwards(family: Family, column: &str, was: u64, is: u64) -> Missing {
    let what = format!("{} ({column})", family.source());
    Missing::malformed(what, &format!("{is} after {was}"), "a counter that does not go backwards")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_beyond_the_whole_is_the_whole_and_more_is_nonsense() {
        let percent = |by| Rise { by, over_ns: 1_000_000_000 }.percent(10_000_000, "idle");
        assert_eq!((percent(25), percent(102)), (Ok(25.0), Ok(100.0)));
        assert_eq!(
            percent(200).unwrap_err().to_string(),
            "idle holds \"2000.0 ms within 1000.0 ms\", expected no more time than passed"
        );
    }
}
