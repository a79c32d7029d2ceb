//! The clocks that thefts are measured by.

use std::hint::black_box;
use std::time::Duration;

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Time since boot, as sleeping counts it.
pub(crate) fn now() -> Duration {
    since_zero(clock_gettime(ClockId::Monotonic))
}

/// What the calling thread ran, to the nanosecond: the scheduler's own count (kernel/sched/cputime.c), with the
/// interrupts that came while it ran, unless the kernel accounts them apart.
pub(crate) fn own_cpu_time() -> Duration {
    since_zero(clock_gettime(ClockId::ThreadCPUTime))
}

/// What has gone by since a theft began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch {
    started: Duration,
    own_at_start: Duration,
}

impl Stopwatch {
    /// Begins now.
    pub(crate) fn start() -> Stopwatch {
        Stopwatch { started: now(), own_at_start: own_cpu_time() }
    }

    /// When it began, by [`now`].
    pub(crate) fn started(self) -> Duration {
        self.started
    }

    /// Wall time since then.
    pub(crate) fn wall(self) -> Duration {
        now().saturating_sub(self.started)
    }

    /// What the calling thread ran since then.
    pub(crate) fn own(self) -> Duration {
        own_cpu_time().saturating_sub(self.own_at_start)
    }
}

/// Sleeps until [`now`] is `moment`, or a signal arrives.
pub(crate) fn sleep_until(moment: Duration) {
    // The only failure of a valid request is a signal, which the caller looks for anyway (clock_nanosleep(2)).
    clock_nanosleep_absolute(ClockId::Monotonic, &timespec(moment)).unwrap_or_default();
}

/// The form in which system calls take a time.
pub(crate) fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}

/// Nanoseconds, for reports: 2^64 of them are 584 years.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A fixed amount of work that touches no memory: about a microsecond of dependent multiplications.
pub(crate) fn work_a_little() {
    const STEPS: u32 = 1000;
    let mut value = black_box(1_u64);
    for _ in 0..STEPS {
        // Any odd factor keeps the chain from collapsing; this one is Knuth's for MMIX.
        value = black_box(value.wrapping_mul(6_364_136_223_846_793_005));
    }
}

fn since_zero(time: Timespec) -> Duration {
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanoseconds.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows_on_the_own_clock_and_sleep_hardly_does() {
        let (wall, own) = (now(), own_cpu_time());
        sleep_until(wall + Duration::from_millis(20));
        let slept = own_cpu_time() - own;
        assert!(now() - wall >= Duration::from_millis(20));
        assert!(slept < Duration::from_millis(20), "{slept:?}");
        (0..1000).for_each(|_| work_a_little());
        assert!(own_cpu_time() - own > slept);
    }
}
