//! A task that wants the whole CPU, and is stopped for a share of each period.

use std::time::Duration;

use anyhow::Result;
use rustix::process::Signal;

use crate::cli::Place;
use crate::clock::{Stopwatch, nanoseconds, now, sleep_until};
use crate::duty::Duty;
use crate::orders::Orders;
use crate::place;
use crate::spinner::Spinner;
use crate::taken::{Policy, Stopped, Taken};

/// Has a spinner stopped at the beginning of each period. This process itself runs where there is room, ahead of others
/// so that it is on time, which its spinner is not to inherit.
pub(super) fn run(place: Place, duty: Duty, orders: &Orders) -> Result<Taken> {
    let spinner = Spinner::start(place.cpu)?;
    place::overtake();
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
