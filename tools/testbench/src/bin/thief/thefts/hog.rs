//! A real-time task that takes its share of every period, whoever else wants the CPU.
//!
//! The kernel leaves ordinary tasks 5 % of a CPU against all real-time tasks together
//! (sched_rt_runtime_us; Documentation/scheduler/sched-rt-group.rst), so a hog takes no more than 95 %.

use std::time::Duration;

use anyhow::Result;

use crate::cli::Place;
use crate::clock::{Stopwatch, sleep_until, work_a_little};
use crate::duty::Duty;
use crate::orders::Orders;
use crate::place;
use crate::taken::Taken;

/// Takes the share of each period, at its beginning. What it takes too much or too little of one, for its own clock has
/// the last word, it makes up for in the next.
pub(super) fn run(place: Place, duty: Duty, orders: &Orders) -> Result<Taken> {
    place::pin(place.cpu)?;
    let policy = place::overtake();
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
