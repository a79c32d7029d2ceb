//! Adds up the energy of a domain from counters that wrap around to 0.

use crate::counters::perf_slot::Epoch;

/// A counter that wraps around, and its last reading.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrapping {
    /// The highest count: the next one is 0.
    range: u64,
    /// An upper bound of its speed, in steps per second.
    most_per_second: u64,
    /// The count and the moment of the last reading.
    last: Option<(u64, u64)>,
}

impl Wrapping {
    pub(super) fn new(range: u64, most_per_second: u64) -> Wrapping {
        Wrapping { range, most_per_second, last: None }
    }

    /// The steps since the last reading, 0 at the first; `None` if it may have wrapped more
    /// than once. `read_at` is in nanoseconds.
    pub(super) fn delta(&mut self, count: u64, read_at: u64) -> Option<u64> {
        let Some((last, at)) = self.last.replace((count, read_at)) else { return Some(0) };
        let seconds = read_at.saturating_sub(at) / 1_000_000_000 + 1;
        if count > self.range || seconds.saturating_mul(self.most_per_second) > self.range {
            return None;
        }
        let around = || count.saturating_add(1).saturating_add(self.range.saturating_sub(last));
        Some(count.checked_sub(last).unwrap_or_else(around))
    }
}

/// The sum of a domain's deltas, in steps of its counters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Total {
    steps: u64,
    epoch: Epoch,
}

impl Total {
    pub(super) fn zero() -> Total {
        Total { steps: 0, epoch: Epoch::first() }
    }

    /// Adds a delta; `None` starts again at 0, so that no energy is counted across that moment.
    pub(super) fn add(&mut self, delta: Option<u64>) {
        match delta {
            Some(delta) => self.steps = self.steps.saturating_add(delta),
            None => *self = Total { steps: 0, epoch: self.epoch.next() },
        }
    }

    /// The total for a sample; `microjoules` converts steps.
    pub(super) fn count(&self, microjoules: impl Fn(u64) -> u64) -> u64 {
        self.epoch.count(microjoules(self.steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn energy() -> Wrapping {
        Wrapping::new(262_143_328_850, 2_000_000_000)
    }

    #[test]
    fn a_counter_that_starts_again_goes_on() {
        let mut energy = energy();
        assert_eq!(energy.delta(262_143_328_800, 0), Some(0));
        assert_eq!(energy.delta(49, SECOND), Some(100));
        assert_eq!(energy.delta(60, 2 * SECOND), Some(11));
    }

    #[test]
    fn after_a_time_in_which_it_may_have_started_again_twice_there_is_no_difference() {
        let mut energy = energy();
        energy.delta(5, 0);
        assert_eq!(energy.delta(500, 600 * SECOND), None);
        assert_eq!(energy.delta(u64::MAX, 601 * SECOND), None);
    }

    #[test]
    fn a_total_that_begins_again_is_below_what_it_was() {
        let mut total = Total::zero();
        total.add(Some(700));
        let before = total.count(|steps| steps);
        total.add(Some(300));
        assert_eq!(total.count(|steps| steps) - before, 300);
        total.add(None);
        total.add(Some(5000));
        assert!(total.count(|steps| steps) < before);
    }
}
