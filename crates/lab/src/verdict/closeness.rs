//! Whether a difference is as small as a margin that was requested.

use super::ratio::Ratio;

/// What is shown of a difference and a margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closeness {
    /// It is smaller than the margin.
    Within,
    /// It is larger than the margin.
    Beyond,
    /// Neither.
    Open,
}

impl Closeness {
    /// By the interval of a ratio, which `allowance`, a logarithm, makes longer at both ends: what lies between runs can hide a
    /// difference as well as make one up. `margin` is a share, such as 0.01.
    pub fn of(ratio: &Ratio, allowance: f64, margin: f64) -> Closeness {
        let mut widened = *ratio;
        widened.interval.low -= allowance;
        widened.interval.high += allowance;
        let (_, interval) = widened.change();
        if widened.is_within(margin) {
            Closeness::Within
        } else if interval.low > margin || interval.high < -margin {
            Closeness::Beyond
        } else {
            Closeness::Open
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Interval;

    #[test]
    fn an_interval_lies_within_a_margin_beyond_it_or_holds_its_end() {
        let of = |low: f64, high: f64, allowance: f64| {
            let interval = Interval { low: low.ln_1p(), high: high.ln_1p() };
            let ratio = Ratio { log: interval.low, interval, confidence: 0.99 };
            Closeness::of(&ratio, allowance, 0.01)
        };
        assert_eq!(of(-0.007, 0.001, 0.0), Closeness::Within);
        assert_eq!(of(0.004, 0.006, 0.0), Closeness::Within);
        assert_eq!(of(-0.007, 0.011, 0.0), Closeness::Open);
        assert_eq!(of(0.011, 0.03, 0.0), Closeness::Beyond);
        assert_eq!(of(-0.03, -0.011, 0.0), Closeness::Beyond);
        assert_eq!(of(-0.007, 0.001, 0.014), Closeness::Open);
        assert_eq!(of(0.011, 0.03, 0.014), Closeness::Open);
    }
}
