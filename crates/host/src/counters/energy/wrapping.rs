//! Counts that start again at 0 after a while.

/// A counter of energy in steps of its own, and how far it has gone since it was read before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrapping {
    /// The highest count: after it comes 0.
    range: u64,
    /// No counter goes faster, in steps a second.
    most_per_second: u64,
    /// The count and the moment of the last reading.
    last: Option<(u64, u64)>,
}

impl Wrapping {
    pub(super) fn new(range: u64, most_per_second: u64) -> Wrapping {
        Wrapping { range, most_per_second, last: None }
    }

    /// The steps since the last reading, 0 at the first; `None` after a time in which it may have started again more
    /// than once. `read_at` is in nanoseconds.
    pub(super) fn rise(&mut self, count: u64, read_at: u64) -> Option<u64> {
        let Some((last, at)) = self.last.replace((count, read_at)) else { return Some(0) };
        let seconds = read_at.saturating_sub(at) / 1_000_000_000 + 1;
        if count > self.range || seconds.saturating_mul(self.most_per_second) > self.range {
            return None;
        }
        let around = || count.saturating_add(1).saturating_add(self.range.saturating_sub(last));
        Some(count.checked_sub(last).unwrap_or_else(around))
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
        assert_eq!(energy.rise(262_143_328_800, 0), Some(0));
        assert_eq!(energy.rise(49, SECOND), Some(100));
        assert_eq!(energy.rise(60, 2 * SECOND), Some(11));
    }

    #[test]
    fn after_a_time_in_which_it_may_have_started_again_twice_there_is_no_difference() {
        let mut energy = energy();
        energy.rise(5, 0);
        assert_eq!(energy.rise(500, 600 * SECOND), None);
        assert_eq!(energy.rise(u64::MAX, 601 * SECOND), None);
    }
}
