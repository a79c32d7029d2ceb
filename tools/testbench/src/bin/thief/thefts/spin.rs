//! A task that wants the whole CPU, as an ordinary one.

use anyhow::{Result, ensure};
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

use crate::cli::Place;
use crate::clock::{Stopwatch, work_a_little};
use crate::orders::Orders;
use crate::place;
use crate::spinner;
use crate::taken::{Policy, Taken};

/// Spins. With a `parent`, no longer than that lives.
pub(super) fn run(place: Place, parent: Option<u32>, orders: &Orders) -> Result<Taken> {
    if let Some(parent) = parent {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have ended before that was asked for.
        let adopted = getppid().map(Pid::as_raw_nonzero).map(|it| it.get().unsigned_abs());
        ensure!(adopted == Some(parent), "process {parent} did not start this one");
    }
    place::pin(place.cpu)?;
    if parent.is_some() {
        println!("{}", spinner::READY);
    }
    let watch = Stopwatch::start();
    while watch.wall() < place.length && !orders.to_stop() {
        work_a_little();
    }
    Ok(Taken::new("spin", place.cpu, Policy::Other, watch.wall(), watch.own()))
}
