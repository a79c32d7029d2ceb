//! Times of a race: which intervals of all nodes are compared as one, and how far the clock of a node is from ours.

use super::ns;
use std::time::Duration;

/// How many blocks a race has.
const BLOCKS: u32 = 20;

/// The blocks of a race: several intervals each.
///
/// A checkpoint, a full cache or a throttled second lasts longer than an interval. Intervals are therefore not independent
/// observations; means of several nearly are (batch means: Law, "Simulation Modeling and Analysis", 5th edition, 9.5.3, which
/// advises about twenty batches whatever the length of the run).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    interval_ns: u64,
    /// How many intervals a block has.
    batch: u64,
}

impl Blocks {
    /// Those of a race of this length.
    pub fn of(length: Duration, interval: Duration) -> Blocks {
        let interval_ns = ns(interval).max(1);
        let n_intervals = ns(length) / interval_ns;
        Blocks { interval_ns, batch: (n_intervals / u64::from(BLOCKS)).max(1) }
    }

    /// The block, counted from 1, of an interval that began `began_ns` after the race. Intervals that begin at nearly the same
    /// time are in the same block.
    pub fn at(&self, began_ns: u64) -> u32 {
        let interval = began_ns.saturating_add(self.interval_ns / 2) / self.interval_ns;
        u32::try_from(interval / self.batch + 1).unwrap_or(u32::MAX)
    }
}

/// A question for the time and its answer, in nanoseconds.
///
/// Of several exchanges, the one with the shortest round trip counts: the node read its clock between question and answer, so
/// the middle of the two is wrong by at most half of the round trip (Cristian, "Probabilistic clock synchronization",
/// Distributed Computing 3, 1989). Clocks are CLOCK_MONOTONIC_RAW: they are never set, and two of them drift apart by some ten
/// microseconds a second.
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
    /// The maximum error.
    pub error: Duration,
}

impl Offset {
    /// The best estimate from these exchanges; `None` where no exchange has its times in order.
    pub fn of(exchanges: &[Exchange]) -> Option<Offset> {
        let round_trip = |it: &Exchange| it.answered_ns.checked_sub(it.asked_ns);
        let timed = exchanges.iter().filter_map(|it| Some((round_trip(it)?, it)));
        let (round_trip_ns, soonest) = timed.min_by_key(|(ns, _)| *ns)?;
        let middle = i128::from(soonest.asked_ns) + i128::from(round_trip_ns / 2);
        let error = Duration::from_nanos(round_trip_ns.div_ceil(2));
        Some(Offset { ns: i128::from(soonest.told_ns) - middle, error })
    }

    /// The time of the node's clock at a time of ours.
    pub fn there(&self, ours_ns: u64) -> u64 {
        let there = i128::from(ours_ns) + self.ns;
        u64::try_from(there).unwrap_or(if there < 0 { 0 } else { u64::MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn blocks(length_s: u64, began_ms: &[u64]) -> Vec<u32> {
        let blocks = Blocks::of(SECOND * length_s as u32, SECOND);
        began_ms.iter().map(|it| blocks.at(it * 1_000_000)).collect()
    }

    #[test]
    fn intervals_of_a_short_race_are_blocks_of_their_own_whoever_begins_a_little_late() {
        assert_eq!(blocks(10, &[0, 3, 999, 1_002, 9_400]), [1, 1, 2, 2, 10]);
    }

    #[test]
    fn a_long_race_has_some_twenty_blocks() {
        assert_eq!(blocks(60, &[0, 2_001, 3_000, 59_000]), [1, 1, 2, 20]);
    }

    #[test]
    fn no_length_and_no_interval_is_too_short() {
        assert_eq!(Blocks::of(Duration::ZERO, Duration::ZERO).at(0), 1);
    }

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
