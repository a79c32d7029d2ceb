//! The clocks and counters that thefts are timed and measured by.
//!
//! Local timer interrupts are counted in the LOC row of /proc/interrupts (arch/x86/kernel/irq.c), or in the `arch_timer` rows of
//! aarch64.

use anyhow::{Context as _, Result};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::hint::black_box;
use std::time::Duration;

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

/// The CPU's count since boot.
pub(crate) fn local_timer(cpu: u32) -> Result<u64> {
    let path = "/proc/interrupts";
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    count(&text, cpu)
        .with_context(|| format!("{path} counts no local timer interrupts of CPU {cpu}"))
}

/// The header names the CPUs that are online, one column each.
fn count(interrupts: &str, cpu: u32) -> Option<u64> {
    let mut lines = interrupts.lines();
    let name = format!("CPU{cpu}");
    let column = lines.next()?.split_whitespace().position(|it| it == name)?;
    let is_timer =
        |line: &&str| line.trim_start().starts_with("LOC:") || line.ends_with(" arch_timer");
    let counts = lines.filter(is_timer).map(|line| {
        line.split_whitespace().skip(1).nth(column).and_then(|count| count.parse::<u64>().ok())
    });
    counts.reduce(|sum, count| sum?.checked_add(count?))?
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

    const X86: &str = "           CPU0       CPU2
  4:       1180          0   IO-APIC   4-edge      ttyS0
LOC:     812345     598203   Local timer interrupts
SPU:          0          0   Spurious interrupts
";
    const ARM: &str = "           CPU0       CPU1
 10:          0          5     GICv3  26 Level     kvm guest vtimer
 11:     401234     398765     GICv3  27 Level     arch_timer
 12:          1          2     GICv3  30 Level     arch_timer
";

    #[test]
    fn a_cpu_is_found_by_its_column_and_not_by_its_place() {
        assert_eq!(count(X86, 0), Some(812_345));
        assert_eq!(count(X86, 2), Some(598_203));
        assert_eq!(count(ARM, 1), Some(398_767));
    }

    #[test]
    fn a_cpu_without_a_column_has_no_count() {
        assert_eq!(count(X86, 1), None);
        assert_eq!(count("", 0), None);
        assert_eq!(count("CPU0\nSPU: 0 Spurious interrupts\n", 0), None);
        assert_eq!(count("CPU0 CPU1\nLOC: 5\n", 1), None);
    }
}
