//! How far the clock of a node is from ours.
//!
//! Of several questions for the time, the one that was answered soonest tells most: the answer was given somewhere between
//! question and answer, so that the middle is wrong by half of the round trip at most (Cristian, "Probabilistic clock
//! synchronization", Distributed Computing 3, 1989). Clocks are CLOCK_MONOTONIC_RAW: nobody sets them, and two of them go apart
//! by some ten microseconds a second.

use std::time::Duration;

/// A question for the time and its answer, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// When it was asked, by our clock.
    pub asked_ns: u64,
    /// What the node's clock said.
    pub told_ns: u64,
    /// When the answer was here, by our clock.
    pub answered_ns: u64,
}

/// The node's clock less ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    ns: i128,
    /// It is wrong by no more than that.
    pub error: Duration,
}

impl Offset {
    /// The best that these exchanges tell; `None` where there is none, or none whose times are in order.
    pub fn of(exchanges: &[Exchange]) -> Option<Offset> {
        let round_trip = |it: &Exchange| it.answered_ns.checked_sub(it.asked_ns);
        let timed = exchanges.iter().filter_map(|it| Some((round_trip(it)?, it)));
        let (round_trip_ns, soonest) = timed.min_by_key(|(ns, _)| *ns)?;
        let middle = i128::from(soonest.asked_ns) + i128::from(round_trip_ns / 2);
        let error = Duration::from_nanos(round_trip_ns.div_ceil(2));
        Some(Offset { ns: i128::from(soonest.told_ns) - middle, error })
    }

    /// A moment of our clock by the node's.
    pub fn there(&self, ours_ns: u64) -> u64 {
        let there = i128::from(ours_ns) + self.ns;
        u64::try_from(there).unwrap_or(if there < 0 { 0 } else { u64::MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(asked_ns: u64, told_ns: u64, answered_ns: u64) -> Exchange {
        Exchange { asked_ns, told_ns, answered_ns }
    }

    #[test]
    fn the_exchange_with_the_shortest_round_trip_counts() {
        let slow = exchange(1_000, 9_000, 3_000);
        let quick = exchange(10_000, 15_100, 10_200);
        let offset = Offset::of(&[slow, quick]).unwrap();
        assert_eq!((offset.there(20_000), offset.error), (25_000, Duration::from_nanos(100)));
    }

    #[test]
    fn a_node_may_have_booted_later_than_we_have() {
        let offset = Offset::of(&[exchange(1_000_000, 40, 1_000_000)]).unwrap();
        assert_eq!(offset.there(1_000_007), 47);
        assert_eq!(offset.there(5), 0);
    }

    #[test]
    fn times_out_of_order_tell_nothing() {
        assert_eq!(Offset::of(&[]), None);
        assert_eq!(Offset::of(&[exchange(10, 10, 9)]), None);
    }
}
