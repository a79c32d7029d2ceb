//! When a share of a CPU falls due: pure arithmetic.

use std::time::Duration;

/// A share of each period.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Duty {
    /// From 0 to 100.
    pub(crate) percent: u8,
    /// How often the share falls due.
    pub(crate) period: Duration,
}

impl Duty {
    /// The share of `time`.
    pub(crate) fn share_of(self, time: Duration) -> Duration {
        // In nanoseconds of 128 bits, so that no error adds up over the periods.
        let share = time.as_nanos() * u128::from(self.percent) / 100;
        Duration::from_nanos(u64::try_from(share).unwrap_or(u64::MAX))
    }

    /// When the period that holds the moment `elapsed` ends.
    pub(crate) fn end_of_period(self, elapsed: Duration) -> Duration {
        let period = self.period.max(Duration::from_nanos(1));
        let n_ended = elapsed.as_nanos() / period.as_nanos();
        let end = (n_ended + 1) * period.as_nanos();
        Duration::from_nanos(u64::try_from(end).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENTH: Duty = Duty { percent: 10, period: Duration::from_millis(10) };

    #[test]
    fn shares_of_many_periods_add_up() {
        assert_eq!(TENTH.share_of(Duration::from_millis(10)), Duration::from_millis(1));
        assert_eq!(TENTH.share_of(Duration::from_secs(86400)), Duration::from_secs(8640));
    }

    #[test]
    fn a_period_that_begins_ends_a_period_later() {
        assert_eq!(TENTH.end_of_period(Duration::ZERO), Duration::from_millis(10));
        assert_eq!(TENTH.end_of_period(Duration::from_nanos(9_999_999)), Duration::from_millis(10));
        assert_eq!(TENTH.end_of_period(Duration::from_millis(10)), Duration::from_millis(20));
    }

    #[test]
    fn impossible_periods_are_answered_too() {
        let never = Duty { percent: 255, period: Duration::MAX };
        assert_eq!(never.share_of(Duration::MAX), Duration::from_nanos(u64::MAX));
        assert_eq!(never.end_of_period(Duration::ZERO), Duration::from_nanos(u64::MAX));
        let endless = Duty { percent: 1, period: Duration::ZERO };
        assert_eq!(endless.end_of_period(Duration::ZERO), Duration::from_nanos(1));
    }
}
