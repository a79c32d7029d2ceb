//! The clocks of changes: deadlines are on CLOCK_BOOTTIME, which goes on while the machine is asleep.

use rustix::thread::{NanosleepRelativeResult, clock_nanosleep_relative};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::time::Duration;

/// The time since boot, the time asleep included.
pub(super) fn since_boot() -> Duration {
    time(ClockId::Boottime)
}

/// The time since the epoch.
pub(super) fn since_epoch() -> Duration {
    time(ClockId::Realtime)
}

fn time(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Sleeps on the clock of deadlines.
pub(super) fn sleep(left: Duration) {
    let time = Timespec {
        tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    };
    if let NanosleepRelativeResult::Err(_) = clock_nanosleep_relative(ClockId::Boottime, &time) {
        std::thread::sleep(left);
    }
}
