//! Ticks of the CPU's time counter, and the nanoseconds they are.
//!
//! The counter is TSC on x86-64 (SDM vol. 3B, "Time-Stamp Counter") and CNTVCT on aarch64 (Arm ARM, "The Generic
//! Timer"). Its rate is not taken from anybody's word: two anchors, each a reading of both the counter and
//! CLOCK_MONOTONIC_RAW, give it. Where the kernel keeps its own time by the same counter, as it nearly always does,
//! this finds the rate that the kernel believes in, and cannot find that the kernel is wrong.

use crate::{Fact, Hertz, Missing, Why};

/// One moment, by the counter and by CLOCK_MONOTONIC_RAW.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The counter, halfway between a reading just before and one just after the clock was read.
    pub ticks: u64,
    /// How far apart those two readings were: the moment is known to half of this.
    pub slack_ticks: u64,
    /// CLOCK_MONOTONIC_RAW in nanoseconds.
    pub raw_ns: u64,
}

/// What turns the counter's ticks into nanoseconds: a straight line through two anchors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickClock {
    first: Anchor,
    last: Anchor,
}

impl TickClock {
    /// The line through two anchors, the earlier one first; missing where counter or clock did not move forward
    /// between them.
    pub fn between(first: Anchor, last: Anchor) -> Fact<TickClock> {
        let went = |what: &str, from: u64, to: u64| {
            let text = format!("it went from {from} to {to} between two readings");
            Missing { what: what.to_owned(), why: Why::Failed(text) }
        };
        if last.ticks <= first.ticks {
            return Err(went("the CPU's time counter", first.ticks, last.ticks));
        }
        if last.raw_ns <= first.raw_ns {
            return Err(went("CLOCK_MONOTONIC_RAW", first.raw_ns, last.raw_ns));
        }
        Ok(TickClock { first, last })
    }

    /// How fast the counter ticks: the metric "TSC MHz" on x86-64.
    pub fn rate(&self) -> Hertz {
        Hertz(scaled(1_000_000_000, self.span_ticks(), self.span_ns()))
    }

    /// How far [`Self::rate`] may be off for the anchors' slack, as a share of it.
    pub fn uncertainty(&self) -> f64 {
        let slack = self.first.slack_ticks.saturating_add(self.last.slack_ticks);
        slack as f64 / 2.0 / self.span_ticks() as f64
    }

    /// The length of `ticks` in nanoseconds, rounded down.
    pub fn length_ns(&self, ticks: u64) -> u64 {
        scaled(ticks, self.span_ns(), self.span_ticks())
    }

    /// The ticks in `ns` nanoseconds, rounded down.
    pub fn ticks_in(&self, ns: u64) -> u64 {
        scaled(ns, self.span_ticks(), self.span_ns())
    }

    /// The CLOCK_MONOTONIC_RAW time at which the counter stood at `ticks`.
    pub fn at_ns(&self, ticks: u64) -> u64 {
        match ticks.checked_sub(self.first.ticks) {
            Some(later) => self.first.raw_ns.saturating_add(self.length_ns(later)),
            None => {
                let earlier = self.length_ns(self.first.ticks.saturating_sub(ticks));
                self.first.raw_ns.saturating_sub(earlier)
            }
        }
    }

    fn span_ticks(&self) -> u64 {
        self.last.ticks.saturating_sub(self.first.ticks).max(1)
    }

    /// The first anchor's time, CLOCK_MONOTONIC_RAW in nanoseconds.
    pub fn started_ns(&self) -> u64 {
        self.first.raw_ns
    }

    /// The time between the anchors, in nanoseconds.
    pub fn span_ns(&self) -> u64 {
        self.last.raw_ns.saturating_sub(self.first.raw_ns).max(1)
    }
}

/// `value * times / over`, exactly, rounded down.
fn scaled(value: u64, times: u64, over: u64) -> u64 {
    let product = u128::from(value) * u128::from(times) / u128::from(over.max(1));
    u64::try_from(product).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(ticks: u64, raw_ns: u64) -> Anchor {
        Anchor { ticks, slack_ticks: 50, raw_ns }
    }

    fn clock() -> TickClock {
        TickClock::between(anchor(5_000, 1_000_000), anchor(5_000 + 2_500_000, 2_000_000)).unwrap()
    }

    #[test]
    fn the_rate_is_what_the_counter_gained_per_second() {
        assert_eq!(clock().rate(), Hertz::from_mhz(2500));
        assert_eq!(clock().uncertainty(), 50.0 / 2_500_000.0);
    }

    #[test]
    fn moments_lie_on_the_line_also_before_and_behind_the_anchors() {
        assert_eq!(clock().at_ns(5_000), 1_000_000);
        assert_eq!(clock().at_ns(5_000 + 25), 1_000_010);
        assert_eq!(clock().at_ns(2_500), 999_000);
        assert_eq!(clock().at_ns(5_000 + 5_000_000), 3_000_000);
    }

    #[test]
    fn lengths_survive_the_way_there_and_back() {
        assert_eq!(clock().ticks_in(100), 250);
        assert_eq!(clock().length_ns(250), 100);
    }

    #[test]
    fn years_of_ticks_neither_wrap_nor_panic() {
        let clock = TickClock::between(anchor(0, 0), anchor(1, 1)).unwrap();
        assert_eq!(clock.at_ns(u64::MAX), u64::MAX);
        let slow = TickClock::between(anchor(0, 0), anchor(1, u64::MAX)).unwrap();
        assert_eq!(slow.length_ns(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_counter_that_stands_still_gives_no_line() {
        let stopped = TickClock::between(anchor(7, 1), anchor(7, 2)).unwrap_err();
        assert_eq!(
            stopped.to_string(),
            "the CPU's time counter cannot be read: it went from 7 to 7 between two readings"
        );
        assert!(TickClock::between(anchor(7, 2), anchor(8, 1)).is_err());
    }
}
