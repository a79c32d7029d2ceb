//! Nothing is taken: what the ledger finds without a theft.

use anyhow::Result;

use crate::cli::Place;
use crate::clock::{Stopwatch, sleep_until};
use crate::orders::Orders;
use crate::place;
use crate::taken::{Policy, Taken};

/// Sleeps.
pub(super) fn run(place: Place, orders: &Orders) -> Result<Taken> {
    place::pin(place.cpu)?;
    let watch = Stopwatch::start();
    while watch.wall() < place.length && !orders.to_stop() {
        sleep_until(watch.started() + place.length);
    }
    Ok(Taken::new("idle", place.cpu, Policy::Other, watch.wall(), watch.own()))
}
