//! The management controller (BMC) of this machine, asked by hand.

pub mod latency;
pub mod power;
pub mod sensors;
pub mod tune;

use host::probe::anchor;
use std::time::Duration;

/// Does `work`, and tells how long it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began_ns = anchor().raw_ns;
    let done = work();
    (done, Duration::from_nanos(anchor().raw_ns.saturating_sub(began_ns)))
}
