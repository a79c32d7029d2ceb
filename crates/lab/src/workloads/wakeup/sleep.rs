//! Sleeps until a given time, and how late it was.
//!
//! clock_nanosleep(2) with an absolute time: what happens between asking for the time and going to sleep does not
//! count. The kernel may be late on purpose, by 50 us unless told otherwise, so that several timers share an
//! interrupt (PR_SET_TIMERSLACK of prctl(2)).

use super::WORKLOAD;
use crate::failure::Failure;
use rustix::io::Errno;
use rustix::thread::{clock_nanosleep_absolute, current_timer_slack, set_current_timer_slack};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Longer than the target residency of the deepest state of common servers' cores, so that an idle CPU chooses it: 600 us
/// for C6 of Skylake and Ice Lake servers, 800 us of Sapphire Rapids (drivers/idle/intel_idle.c).
const PERIOD: Duration = Duration::from_millis(2);

/// How late, in nanoseconds, each of so many sleeps ended on the calling thread.
pub(super) fn late(count: u64, stop: &AtomicBool) -> Result<Vec<u64>, Failure> {
    let _slack = Slack::least().map_err(refused("cannot set the timer slack"))?;
    let mut late_ns = Vec::new();
    for _ in 0..count {
        let due = now().saturating_add(PERIOD);
        sleep_until(due, stop)?;
        late_ns.push(lateness(due, now())?);
    }
    Ok(late_ns)
}

/// CLOCK_MONOTONIC, since boot.
pub(super) fn now() -> Duration {
    // It is never negative (clock_gettime(2)).
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default()
}

fn sleep_until(due: Duration, stop: &AtomicBool) -> Result<(), Failure> {
    let overflow = |_| Failure::NoFigure("wakeup: the clock is at its end".to_owned());
    let request = Timespec::try_from(due).map_err(overflow)?;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        match clock_nanosleep_absolute(ClockId::Monotonic, &request) {
            // A signal came; the time asked for stays the same.
            Err(Errno::INTR) => {}
            result => return result.map_err(refused("cannot sleep")),
        }
    }
}

fn lateness(due: Duration, woke: Duration) -> Result<u64, Failure> {
    match woke.checked_sub(due) {
        Some(late) => Ok(u64::try_from(late.as_nanos()).unwrap_or(u64::MAX)),
        None => Err(Failure::WrongAnswer {
            workload: WORKLOAD.id,
            found: format!("a wake-up {} ns too early", (due.saturating_sub(woke)).as_nanos()),
            expected: "none before its time".to_owned(),
        }),
    }
}

fn refused(what: &'static str) -> impl FnOnce(Errno) -> Failure {
    move |error| Failure::system(what)(error.into())
}

/// The calling thread's timer slack as it was, while it is the least possible.
struct Slack {
    before_ns: u64,
}

impl Slack {
    fn least() -> Result<Slack, Errno> {
        let before_ns = current_timer_slack()?;
        set_current_timer_slack(Some(NonZeroU64::MIN))?;
        Ok(Slack { before_ns })
    }
}

impl Drop for Slack {
    fn drop(&mut self) {
        // The kernel takes any value, and has just taken one.
        let _refused = set_current_timer_slack(NonZeroU64::new(self.before_ns)).is_err();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wake_up_is_early_and_the_slack_is_given_back() {
        let before = current_timer_slack().unwrap();
        assert_eq!(late(3, &AtomicBool::new(false)).unwrap().len(), 3);
        assert_eq!(current_timer_slack().unwrap(), before);
    }

    #[test]
    fn an_early_wake_up_is_told_loudly() {
        let at = Duration::from_nanos;
        assert_eq!(lateness(at(100), at(130)).unwrap(), 30);
        let text = lateness(at(130), at(100)).unwrap_err().to_string();
        assert!(
            text.starts_with("WRONG ANSWER: wakeup computed a wake-up 30 ns too early"),
            "{text}"
        );
    }

    #[test]
    fn a_user_who_wants_to_stop_does_not_wait_for_all_sleeps() {
        let stopped = late(1_000_000, &AtomicBool::new(true));
        assert!(matches!(stopped, Err(Failure::Stopped)));
    }
}
