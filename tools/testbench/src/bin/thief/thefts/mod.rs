//! The ways to steal. Tasks that want a CPU are here, storms of timer interrupts in [`timer`].

mod timer;

use crate::cli::{Arguments, Place, Theft};
use crate::clock::{Duty, Stopwatch, nanoseconds, now, sleep_until, work_a_little};
use crate::group::Group;
use crate::process::{self, Orders};
use crate::spinner::{self, Spinner};
use crate::taken::{Policy, Stopped, Taken};
use anyhow::{Result, ensure};
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use std::time::Duration;

/// Steals until the time is up or the order to stop comes.
pub(crate) fn commit(arguments: &Arguments, orders: &Orders) -> Result<Taken> {
    match &arguments.theft {
        Theft::Hog { place, share, period } => {
            hog(*place, Duty { percent: share.percent, period: *period }, orders)
        }
        Theft::Timer { place, hz, cost: false } => timer::storm(*place, *hz, orders),
        Theft::Timer { place, hz, cost: true } => timer::cost(*place, *hz, orders),
        Theft::Quota { place, share } => quota(*place, share.percent, orders),
        Theft::Stop { place, share, period } => {
            stop(*place, Duty { percent: share.percent, period: *period }, orders)
        }
        Theft::Spin { place, parent } => spin(*place, *parent, orders),
        Theft::Idle { place } => idle(*place, orders),
    }
}

/// A real-time task that takes the share of each period, at its beginning, whoever else wants the CPU. What it takes too much or too little of one, for its own clock has
/// the last word, it makes up for in the next.
///
/// The kernel leaves ordinary tasks 5 % of a CPU against all real-time tasks together (sched_rt_runtime_us;
/// Documentation/scheduler/sched-rt-group.rst), so it takes no more than 95 %.
fn hog(place: Place, duty: Duty, orders: &Orders) -> Result<Taken> {
    process::pin(place.cpu)?;
    let policy = process::overtake();
    let watch = Stopwatch::start();
    while watch.wall() < place.length && !orders.to_stop() {
        let end = duty.end_of_period(watch.wall()).min(place.length);
        take_until(watch, duty.share_of(end), end);
        sleep_until(watch.started() + end);
    }
    Ok(Taken::new("hog", place.cpu, policy, watch.wall(), watch.own()))
}

/// Works until all that is due has been taken, or the period is over.
fn take_until(watch: Stopwatch, due: Duration, end: Duration) {
    while watch.own() < due && watch.wall() < end {
        work_a_little();
    }
}

/// Has a spinner stopped at the beginning of each period. This process itself runs where there is room, ahead of others
/// so that it is on time, which its spinner is not to inherit.
fn stop(place: Place, duty: Duty, orders: &Orders) -> Result<Taken> {
    let spinner = Spinner::start(place.cpu)?;
    process::overtake();
    let watch = Stopwatch::start();
    let (mut times, mut stopped) = (0, Duration::ZERO);
    while watch.wall() < place.length && !orders.to_stop() {
        let begin = watch.wall();
        let end = duty.end_of_period(begin).min(place.length);
        spinner.signal(Signal::STOP)?;
        let stopped_at = now();
        sleep_until(watch.started() + begin + duty.share_of(end.saturating_sub(begin)));
        spinner.signal(Signal::CONT)?;
        stopped += now().saturating_sub(stopped_at);
        times += 1;
        if !orders.to_stop() {
            sleep_until(watch.started() + end);
        }
    }
    let wall = watch.wall();
    let taken = Taken::new("stop", place.cpu, Policy::Other, wall, spinner.end()?);
    Ok(Taken { stopped: Some(Stopped { times, ns: nanoseconds(stopped) }), ..taken })
}

/// A task that wants the whole CPU, and whose control group may not have it: has a spinner throttled to `percent` of the CPU. This process itself stays outside of the group and of the CPU.
fn quota(place: Place, percent: u8, orders: &Orders) -> Result<Taken> {
    // The group is removed last, for only an empty one can be.
    let group = Group::with_quota(percent)?;
    let spinner = Spinner::start(place.cpu)?;
    group.take(spinner.pid())?;
    let watch = Stopwatch::start();
    while watch.wall() < place.length && !orders.to_stop() {
        sleep_until(watch.started() + place.length);
    }
    let throttled = group.throttled()?;
    let wall = watch.wall();
    let taken = Taken::new("quota", place.cpu, Policy::Other, wall, spinner.end()?);
    Ok(Taken { throttled: Some(throttled), ..taken })
}

/// Spins as an ordinary task. With a `parent`, no longer than that lives.
fn spin(place: Place, parent: Option<u32>, orders: &Orders) -> Result<Taken> {
    if let Some(parent) = parent {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have ended before that was asked for.
        let adopted = getppid().map(Pid::as_raw_nonzero).map(|it| it.get().unsigned_abs());
        ensure!(adopted == Some(parent), "process {parent} did not start this one");
    }
    process::pin(place.cpu)?;
    if parent.is_some() {
        println!("{}", spinner::READY);
    }
    let watch = Stopwatch::start();
    while watch.wall() < place.length && !orders.to_stop() {
        work_a_little();
    }
    Ok(Taken::new("spin", place.cpu, Policy::Other, watch.wall(), watch.own()))
}

/// Takes nothing, to see what the ledger finds without a theft.
fn idle(place: Place, orders: &Orders) -> Result<Taken> {
    process::pin(place.cpu)?;
    let watch = Stopwatch::start();
    while watch.wall() < place.length && !orders.to_stop() {
        sleep_until(watch.started() + place.length);
    }
    Ok(Taken::new("idle", place.cpu, Policy::Other, watch.wall(), watch.own()))
}
