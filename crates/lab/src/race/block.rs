//! Which intervals of all nodes are compared as one.
//!
//! What happens in one interval goes on in the next: a checkpoint, a full cache, a throttled second. Intervals are therefore
//! no independent observations; means of several are nearly so (batch means: Law, "Simulation Modeling and Analysis", 5th
//! edition, 9.5.3, which advises some twenty batches whatever the length of the run).

use super::ns;
use std::time::Duration;

/// How many blocks a race has.
const BLOCKS: u32 = 20;

/// Intervals as blocks.
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

    /// The block of an interval that began so many nanoseconds after the race, counted from 1. Intervals that begin at nearly the
    /// same time are in one.
    pub fn at(&self, began_ns: u64) -> u32 {
        let interval = began_ns.saturating_add(self.interval_ns / 2) / self.interval_ns;
        u32::try_from(interval / self.batch + 1).unwrap_or(u32::MAX)
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
}
