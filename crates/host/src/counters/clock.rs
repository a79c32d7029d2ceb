//! What time it is, by the clocks of clock_gettime(2).

use facts::counters::Moment;
use rustix::time::{ClockId, clock_gettime};

/// By all three clocks of a [`Moment`].
pub(super) fn moment() -> Moment {
    Moment {
        raw_ns: now_ns(),
        boot_ns: nanoseconds(ClockId::Boottime),
        real_ns: nanoseconds(ClockId::Realtime),
    }
}

/// `CLOCK_MONOTONIC_RAW` in nanoseconds.
pub(super) fn now_ns() -> u64 {
    nanoseconds(ClockId::MonotonicRaw)
}

/// 0 for a time before 1970, which only `CLOCK_REALTIME` can have.
fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let (Ok(seconds), Ok(nanoseconds)) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec))
    else {
        return 0;
    };
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}
