//! Waits while something is measured, and shows how far it is.

use crate::clock::now;
use crate::interrupt::Interrupt;
use std::time::Duration;

/// Begins to show how far a measurement is; it takes that long, or nobody knows how long. What it makes is called with the time
/// that is over, and dropped when the measurement ends.
pub type Gauge<'a> = dyn Fn(Option<Duration>) -> Box<dyn FnMut(Duration)> + 'a;

/// The time between two updates that an eye can follow.
pub(crate) const STEP: Duration = Duration::from_millis(200);

/// Waits that long, or until the user wants to stop.
pub(crate) fn wait(interrupt: &Interrupt, length: Duration, gauge: &Gauge<'_>) {
    let mut show = gauge(Some(length));
    let started = now();
    while let Some(left) = length.checked_sub(started.elapsed()).filter(|it| !it.is_zero()) {
        show(started.elapsed());
        if interrupt.wait(left.min(STEP)) {
            break;
        }
    }
}
