//! How many times as much, with the interval that decides.

use crate::stats::{Estimate, Interval};

/// The logarithm of a ratio, `b` over `a`, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The logarithm of the ratio.
    pub log: f64,
    /// The interval of that logarithm.
    pub interval: Interval,
    /// The chance that the interval holds the truth, such as 0.99.
    pub confidence: f64,
}

/// From here on a ratio is said as "times as much", not in percent.
pub const LARGE: f64 = 1.5;

impl Ratio {
    pub(super) fn new(estimate: Estimate, confidence: f64) -> Ratio {
        Ratio { log: estimate.value, interval: estimate.interval, confidence }
    }

    /// Whether the interval leaves out "no difference".
    pub fn excludes_none(&self) -> bool {
        self.near_end() > 0.0
    }

    /// How far the nearer end of the interval is from "no difference", as a logarithm; 0 where it holds it.
    pub fn near_end(&self) -> f64 {
        self.interval.low.max(-self.interval.high).max(0.0)
    }

    /// Whether the whole interval differs from 1 by less than `margin`, such as 0.01.
    pub fn is_within(&self, margin: f64) -> bool {
        let change = self.change();
        change.1.low > -margin && change.1.high < margin
    }

    /// Half of the length of the interval as a share: 0.1 for 12 % less to 8 % more.
    pub fn half_width(&self) -> f64 {
        self.change().1.half_width()
    }

    /// The ratio and its interval: 1 where there is no difference.
    pub fn times(&self) -> (f64, Interval) {
        (self.log.exp(), self.interval.map(f64::exp))
    }

    /// The change and its interval, as a share: 0.06 where `b` has 6 % more.
    pub fn change(&self) -> (f64, Interval) {
        (self.log.exp_m1(), self.interval.map(f64::exp_m1))
    }

    /// Of `a` over `b`: both ends turned the same way.
    #[must_use]
    pub fn turned(&self) -> Ratio {
        let interval = Interval { low: -self.interval.high, high: -self.interval.low };
        Ratio { log: -self.log, interval, ..*self }
    }

    /// Whether to say it as "times as much": from 1.5 times on, and from two thirds down.
    pub fn is_large(&self) -> bool {
        self.log.abs() >= LARGE.ln()
    }

    /// With how many decimals percent of the change are printed: one significant digit of the half-width, and as many more as it takes
    /// for an end that is not 0 not to be printed as 0 where the interval leaves 0 out.
    pub fn decimals(&self) -> usize {
        self.decimals_of(100.0)
    }

    /// The same of "times as much": an end that is not 1 is not printed as 1 where the interval leaves 1 out.
    pub fn decimals_of_times(&self) -> usize {
        self.decimals_of(1.0)
    }

    fn decimals_of(&self, scale: f64) -> usize {
        let (value, interval) = self.change();
        let smallest = if self.excludes_none() {
            let nearer = interval.low.abs().min(interval.high.abs());
            // A digit that rounds up to 1 stands for half of it and more.
            2.0 * nearer
        } else {
            f64::INFINITY
        };
        let width = interval.half_width();
        let width = if width > 0.0 { width } else { value.abs() };
        let shown = scale * width.min(smallest);
        if shown > 0.0 && shown.is_finite() {
            (-(shown * UP_TO_ROUNDING).log10().floor()).clamp(0.0, MOST_DECIMALS) as usize
        } else {
            1
        }
    }
}

/// A width of a tenth, after logarithms and back, is a tenth.
const UP_TO_ROUNDING: f64 = 1.0 + 1e-9;

/// Of percent: nothing is measured that well.
const MOST_DECIMALS: f64 = 9.0;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ratio(log: f64, low: f64, high: f64) -> Ratio {
        Ratio { log, interval: Interval { low, high }, confidence: 0.99 }
    }

    #[test]
    fn a_ratio_is_turned_at_both_ends() {
        let longer = ratio(1.25_f64.ln(), 1.2_f64.ln(), 1.3_f64.ln());
        let (times, interval) = longer.turned().times();
        assert!((times - 0.8).abs() < 1e-12, "{times}");
        assert!(
            (interval.low - 1.0 / 1.3).abs() < 1e-12 && (interval.high - 1.0 / 1.2).abs() < 1e-12
        );
        assert!((longer.half_width() - 0.05).abs() < 1e-12);
    }

    #[test]
    fn from_one_and_a_half_on_it_is_times_as_much() {
        assert!(
            ratio(1.5_f64.ln(), 0.0, 1.0).is_large()
                && ratio(-(1.5_f64.ln()), -1.0, 0.0).is_large()
        );
        assert!(!ratio(1.49_f64.ln(), 0.0, 1.0).is_large());
    }

    #[test]
    fn digits_are_those_that_the_interval_allows() {
        let percent = |value: f64, low: f64, high: f64| {
            let log = |it: f64| (it / 100.0).ln_1p();
            ratio(log(value), log(low), log(high)).decimals()
        };
        assert_eq!(percent(6.0, 5.9, 6.1), 1);
        assert_eq!(percent(-0.3, -0.7, 0.1), 1);
        assert_eq!(percent(11.0, 8.0, 14.0), 0);
        assert_eq!(percent(99.0, 92.0, 107.0), 0);
        assert_eq!(percent(0.3, 0.004, 0.6), 3);
        assert_eq!(percent(2.0, 2.0, 2.0), 0);
    }

    proptest! {
        #[test]
        fn an_interval_that_leaves_0_out_is_printed_so(near in 1e-6_f64..0.3, width in 0.0_f64..0.5, is_less: bool) {
            let above = ratio(near + width / 2.0, near, near + width);
            let ratio = if is_less { above.turned() } else { above };
            let (_, interval) = ratio.change();
            let decimals = ratio.decimals();
            for end in [interval.low, interval.high] {
                let printed: f64 = format!("{:.decimals$}", 100.0 * end).parse().unwrap();
                prop_assert_eq!(printed < 0.0, is_less, "{} of {:?}", printed, ratio);
                prop_assert!(printed != 0.0, "{ratio:?}");
            }
        }
    }
}
