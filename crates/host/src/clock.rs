//! The clocks of clock_gettime(2).
//!
//! Samples and probes use CLOCK_MONOTONIC_RAW; deadlines use CLOCK_BOOTTIME, which goes on while the machine is suspended.

use facts::counters::Moment;
use rustix::thread::{NanosleepRelativeResult, clock_nanosleep_relative};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::time::Duration;

/// CLOCK_MONOTONIC_RAW in nanoseconds.
pub(crate) fn raw_ns() -> u64 {
    nanoseconds(ClockId::MonotonicRaw)
}

/// The CPU time of the calling thread so far, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}

/// All three clocks of a [`Moment`].
pub(crate) fn moment() -> Moment {
    Moment {
        raw_ns: raw_ns(),
        boot_ns: nanoseconds(ClockId::Boottime),
        real_ns: nanoseconds(ClockId::Realtime),
    }
}

/// The time since boot, including the time suspended.
pub(crate) fn since_boot() -> Duration {
    time(ClockId::Boottime)
}

/// The time since the epoch.
pub(crate) fn since_epoch() -> Duration {
    time(ClockId::Realtime)
}

/// Sleeps on CLOCK_BOOTTIME.
pub(crate) fn sleep(left: Duration) {
    let time = Timespec {
        tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    };
    if let NanosleepRelativeResult::Err(_) = clock_nanosleep_relative(ClockId::Boottime, &time) {
        std::thread::sleep(left);
    }
}

/// 0 for a time before 1970, which only CLOCK_REALTIME can have; 64 bits last for 584 years.
fn nanoseconds(clock: ClockId) -> u64 {
    let time = Duration::try_from(clock_gettime(clock)).unwrap_or_default();
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn time(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}
