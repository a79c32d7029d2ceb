//! Nodes that commit at the same time, and the trials that each of them sends.
//!
//! ```text
//!   an engine of `commit`, which works without a break      commit
//!         |   a sample at the end of each interval
//!         v
//!   Runner: a trial of each interval, with clock, ledger    on the node
//!   and the marks of that interval
//!         |   News: a line of JSON each                     protocol
//!         v
//!   Record: an arm for each node, a block for the same      where the race is run
//!   intervals of all
//! ```
//!
//! So a race is a result like any other: it is kept, compared and shown as those of `fullclock bench` are.

pub mod protocol;
mod runner;
mod summed;
mod time;
mod watcher;

pub use protocol::Task;
pub use runner::Runner;
pub use summed::Summing;
pub(crate) use summed::slice;
pub use time::{Blocks, Exchange, Offset};
pub use watcher::{FULL_INTERVAL as NOTICE, QUOTA_INTERVAL as QUOTA_NOTICE, changed_settings};

use std::time::Duration;

/// A time in nanoseconds, as clocks and intervals of a race have them; what is longer than all of them is as long as the longest.
pub fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
