//! A task that wants the whole CPU, and whose control group may not have it.

use anyhow::Result;

use crate::cli::Place;
use crate::clock::{Stopwatch, sleep_until};
use crate::group::Group;
use crate::orders::Orders;
use crate::spinner::Spinner;
use crate::taken::{Policy, Taken};

/// Has a spinner throttled to `percent` of the CPU. This process itself stays outside of the group and of the CPU.
pub(super) fn run(place: Place, percent: u8, orders: &Orders) -> Result<Taken> {
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
