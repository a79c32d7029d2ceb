//! When a study that is running looks at its trials.
//!
//! An analysis takes the longer the more trials there are: one behind every block would take the square of them in all. So each
//! look is followed by a time without any that is the longer the longer it took.

use std::time::Duration;

/// One look may take a two hundredth of the time: two kinds of them leave 99 % to the trials.
const SHARE: u32 = 200;

/// Looks of one kind; times are those since the study began.
#[derive(Debug, Default)]
pub(super) struct Looks {
    next: Duration,
}

impl Looks {
    /// Whether it is time for one.
    pub(super) fn are_due(&self, elapsed: Duration) -> bool {
        elapsed >= self.next
    }

    /// Notes when the last one began and when it ended.
    pub(super) fn took(&mut self, began: Duration, ended: Duration) {
        self.next = ended + ended.saturating_sub(began) * (SHARE - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often it is looked, and for how long in all, where every look takes longer than the one before.
    fn looks(n_blocks: u32, block: Duration, of_first: Duration) -> (u32, Duration) {
        let (mut elapsed, mut looking, mut n) = (Duration::ZERO, Duration::ZERO, 0);
        let mut looks = Looks::default();
        for at in 1..=n_blocks {
            elapsed += block;
            if looks.are_due(elapsed) {
                let began = elapsed;
                elapsed += of_first * at;
                looks.took(began, elapsed);
                (looking, n) = (looking + of_first * at, n + 1);
            }
        }
        (n, looking)
    }

    #[test]
    fn quick_looks_are_had_behind_every_block() {
        let (n, _) = looks(100, Duration::from_secs(1), Duration::from_micros(50));
        assert_eq!(n, 100);
    }

    #[test]
    fn slow_looks_leave_the_time_to_the_trials_however_many_blocks_there_are() {
        let block = Duration::from_millis(100);
        let (n, looking) = looks(100_000, block, Duration::from_micros(10));
        let whole = block * 100_000;
        assert!(n > 100 && looking < whole / 150, "{n}: {looking:?} of {whole:?}");
    }
}
