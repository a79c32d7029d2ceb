//! What time it is.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// For waits that are limited, and for what is due.
#[expect(clippy::disallowed_methods, reason = "patience is a time")]
pub fn now() -> Instant {
    Instant::now()
}

/// The time of day; zero before 1970.
pub fn since_1970() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Realtime)).unwrap_or_default()
}

/// The same in nanoseconds.
pub fn since_1970_ns() -> u64 {
    u64::try_from(since_1970().as_nanos()).unwrap_or(u64::MAX)
}

/// CLOCK_MONOTONIC_RAW in nanoseconds, as samples have it.
pub(crate) fn raw_ns() -> u64 {
    let time = Duration::try_from(clock_gettime(ClockId::MonotonicRaw)).unwrap_or_default();
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
