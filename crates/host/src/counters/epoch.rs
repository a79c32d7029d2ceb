//! Counters that begin again at 0 when they are opened again.
//!
//! An interval across such a moment has no difference, and must not seem to have one: a count that began again
//! stays below everything that was counted before.

/// More than any of these counters goes in a year (2^57 cycles of 4 GHz are 417 days), and enough for 64 times.
const STEP: u64 = 1 << 57;

/// What is added to the counts since they began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch(u64);

impl Epoch {
    /// That of the first beginning.
    pub(super) fn first() -> Epoch {
        Epoch(63 * STEP)
    }

    /// That of the beginning after this one. After the last it stays, and a difference may be wrong: a CPU would
    /// have to come back for the 64th time.
    pub(super) fn next(self) -> Epoch {
        Epoch(self.0.saturating_sub(STEP))
    }

    /// A count since the beginning, as samples have it.
    pub(super) fn count(self, count: u64) -> u64 {
        self.0.saturating_add(count.min(STEP - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_began_again_is_below_what_it_was() {
        let (first, later) = (Epoch::first(), Epoch::first().next());
        assert!(later.count(u64::MAX) < first.count(0));
        assert_eq!(first.count(12) - first.count(5), 7);
    }
}
