//! The CPU's time counter and CLOCK_MONOTONIC_RAW, read as one moment.

use super::arch;
use facts::probe::Anchor;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The tightest of this many tries counts: an interrupt between two readings spoils one of them, not eight.
const N_TRIES: u32 = 8;

/// Reads both, within some tens of nanoseconds where the clock is read without a system call (vDSO; Linux 5.3 for this
/// clock). Takes under 1 us there, some microseconds elsewhere.
pub fn anchor() -> Anchor {
    let tries = (0..N_TRIES).map(|_| {
        let before = arch::now_in_order();
        let raw_ns = raw_ns();
        let after = arch::now_in_order();
        let slack_ticks = after.saturating_sub(before);
        Anchor { ticks: before.saturating_add(slack_ticks / 2), slack_ticks, raw_ns }
    });
    let none = Anchor { ticks: 0, slack_ticks: u64::MAX, raw_ns: 0 };
    tries.fold(none, |best, it| if it.slack_ticks < best.slack_ticks { it } else { best })
}

/// CLOCK_MONOTONIC_RAW in nanoseconds.
pub(crate) fn raw_ns() -> u64 {
    // The clock starts at boot: it is never negative, and lasts 584 years in 64 bits.
    let since_boot = Duration::try_from(clock_gettime(ClockId::MonotonicRaw)).unwrap_or_default();
    u64::try_from(since_boot.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::probe::TickClock;

    #[test]
    fn two_anchors_make_a_clock() {
        let first = anchor();
        std::thread::sleep(Duration::from_millis(2));
        let clock = TickClock::between(first, anchor()).unwrap();
        assert!(clock.span_ns() >= 1_000_000);
        // The slowest generic timer of an Arm server ticks at 25 MHz, the fastest TSC well below 10 GHz.
        assert!((1..10_000).contains(&(clock.rate().khz() / 1000)), "{}", clock.rate());
    }
}
