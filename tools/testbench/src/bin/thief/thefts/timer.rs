//! A storm of timer interrupts.
//!
//! A timerfd with an interval would wake its reader every time: the kernel starts it again when it is read, not when it
//! expires (fs/timerfd.c), so an unread one fires once. The storm is therefore made of many timers that fire once,
//! one after the other, that nobody waits for. Each costs its interrupt, and the system call that sets it again
//! when the whole batch has fired.
//!
//! The kernel keeps the timers of a CPU without a tick (nohz_full) on another one; there, the count of interrupts
//! does not move.

use std::time::Duration;

use anyhow::{Context as _, Result};
use rustix::fd::OwnedFd;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use crate::cli::Place;
use crate::clock::{self, Stopwatch, now, sleep_until, timespec, work_a_little};
use crate::process::{self, Orders};
use crate::taken::{Interrupts, Policy, Taken};

/// Raises `hz` interrupts a second.
pub(super) fn storm(place: Place, hz: u32, orders: &Orders) -> Result<Taken> {
    process::pin(place.cpu)?;
    let policy = process::overtake();
    let timers = Timers::of(hz)?;
    let before = clock::local_timer(place.cpu)?;
    let watch = Stopwatch::start();
    let mut raised = 0;
    let mut last = now();
    while watch.wall() < place.length && !orders.to_stop() {
        let batch = timers.set(last.max(now()))?;
        raised += batch.n_timers;
        last = batch.end;
        sleep_until(last);
    }
    let taken = Taken::new("timer", place.cpu, policy, watch.wall(), watch.own());
    let local_timer = clock::local_timer(place.cpu)?.saturating_sub(before);
    Ok(Taken { interrupts: Some(Interrupts { raised, local_timer, cost_ns: None }), ..taken })
}

/// Raises interrupts half of the time, and works all the time: what the work lacks in a storm, against the lull that
/// follows at once, is what the interrupts took. The median of many such pairs is told, for whatever else
/// ran on the CPU hits a few of them.
pub(super) fn cost(place: Place, hz: u32, orders: &Orders) -> Result<Taken> {
    process::pin(place.cpu)?;
    let timers = Timers::of(hz)?;
    let before = clock::local_timer(place.cpu)?;
    let watch = Stopwatch::start();
    let mut raised = 0;
    let mut costs = Vec::new();
    while watch.wall() < place.length && !orders.to_stop() {
        let batch = timers.set(now())?;
        raised += batch.n_timers;
        let begin = now();
        let storm = Work::until(batch.end);
        let lull = Work::until(now() + storm.wall);
        costs.extend(cost_of_one(storm, lull, timers.n_within(batch.end.saturating_sub(begin))));
    }
    let taken = Taken::new("timer", place.cpu, Policy::Other, watch.wall(), watch.own());
    let local_timer = clock::local_timer(place.cpu)?.saturating_sub(before);
    let cost_ns = median(costs);
    Ok(Taken { interrupts: Some(Interrupts { raised, local_timer, cost_ns }), ..taken })
}

/// Timers that are set to fire one after the other.
#[derive(Debug)]
struct Timers {
    timers: Vec<OwnedFd>,
    spacing: Duration,
}

/// Timers that have been set.
#[derive(Debug)]
struct Batch {
    /// How many were not too late.
    n_timers: u64,
    /// When the last one fires.
    end: Duration,
}

impl Timers {
    /// As many as fire in a tenth of a second, within the 1,024 descriptors that a process has by default.
    fn of(hz: u32) -> Result<Timers> {
        const MOST: u32 = 500;
        let create = || timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC);
        let timers = (0..(hz / 10).clamp(1, MOST)).map(|_| create()).collect::<Result<_, _>>();
        let spacing = Duration::from_secs(1) / hz.max(1);
        Ok(Timers { timers: timers.context("cannot make a timer")?, spacing })
    }

    /// Sets all of them, the first to fire a spacing after `start`.
    fn set(&self, start: Duration) -> Result<Batch> {
        let mut batch = Batch { n_timers: 0, end: start };
        for timer in &self.timers {
            batch.end += self.spacing;
            if batch.end <= now() {
                continue;
            }
            let once =
                Itimerspec { it_interval: timespec(Duration::ZERO), it_value: timespec(batch.end) };
            timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &once)
                .context("cannot set a timer")?;
            batch.n_timers += 1;
        }
        Ok(batch)
    }

    /// How many fire in the last `time` of a batch, the very last among them.
    fn n_within(&self, time: Duration) -> u32 {
        let n_timers = time.as_nanos() / self.spacing.as_nanos().max(1) + 1;
        let n_all = u32::try_from(self.timers.len()).unwrap_or(u32::MAX);
        u32::try_from(n_timers).unwrap_or(n_all).min(n_all)
    }
}

/// Work done in a stretch of time.
#[derive(Debug, Clone, Copy)]
struct Work {
    wall: Duration,
    n_pieces: u32,
}

impl Work {
    fn until(end: Duration) -> Work {
        let begin = now();
        let mut n_pieces = 0;
        while now() < end {
            work_a_little();
            n_pieces += 1;
        }
        Work { wall: now().saturating_sub(begin), n_pieces }
    }
}

/// Nanoseconds that each of `n_interrupts` took from the work in the storm.
fn cost_of_one(storm: Work, lull: Work, n_interrupts: u32) -> Option<f64> {
    if storm.n_pieces == 0 || lull.n_pieces == 0 || n_interrupts == 0 {
        return None;
    }
    let undisturbed = lull.wall.as_secs_f64() / f64::from(lull.n_pieces);
    let lost = storm.wall.as_secs_f64() - undisturbed * f64::from(storm.n_pieces);
    Some(lost / f64::from(n_interrupts) * 1e9)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_storm_lacks_against_the_lull_is_shared_by_its_interrupts() {
        let lull = Work { wall: Duration::from_millis(100), n_pieces: 100_000 };
        let storm = Work { wall: Duration::from_millis(100), n_pieces: 97_000 };
        let cost = cost_of_one(storm, lull, 1000).unwrap();
        assert!((cost - 3000.0).abs() < 1e-6, "{cost}");
        assert_eq!(cost_of_one(storm, lull, 0), None);
        assert_eq!(cost_of_one(storm, Work { n_pieces: 0, ..lull }, 1000), None);
    }

    #[test]
    fn one_disturbed_pair_does_not_move_the_median() {
        assert_eq!(median(vec![3000.0, 90000.0, 3100.0]), Some(3100.0));
        assert_eq!(median(Vec::new()), None);
    }

    #[test]
    fn a_batch_ends_after_as_many_spacings_as_it_has_timers() {
        let timers = Timers::of(1000).unwrap();
        let start = now() + Duration::from_secs(3600);
        let batch = timers.set(start).unwrap();
        assert_eq!((batch.n_timers, batch.end), (100, start + Duration::from_millis(100)));
        assert_eq!(timers.n_within(Duration::from_micros(2500)), 3);
        assert_eq!(timers.n_within(Duration::from_secs(3600)), 100);
    }

    #[test]
    fn timers_that_are_too_late_are_not_counted() {
        let timers = Timers::of(1000).unwrap();
        let batch = timers.set(now() - Duration::from_millis(50)).unwrap();
        assert!(batch.n_timers <= 51, "{}", batch.n_timers);
    }
}
