//! The lines of the ledger, one file each, in display order.

mod cgroup_quota;
mod idle;
mod idle_exits;
mod interrupts;
mod kernel_threads;
mod measuring;
mod other_tasks;
mod slow_clock;
mod softirqs;
mod stolen;
mod stopped_clock;
mod ticks;
mod useful;

use crate::loss::Loss;

/// Every line. What is left when all are entered is unexplained.
pub const LOSSES: &[&Loss] = &[
    &idle::LOSS,
    &cgroup_quota::LOSS,
    &idle_exits::LOSS,
    &stolen::LOSS,
    &stopped_clock::LOSS,
    &slow_clock::LOSS,
    &ticks::LOSS,
    &interrupts::LOSS,
    &softirqs::LOSS,
    &kernel_threads::LOSS,
    &other_tasks::LOSS,
    &measuring::LOSS,
    &useful::LOSS,
];

/// The headings that the help of every line has, in this order.
pub const HEADINGS: &[&str] = &["## What it is", "## How it is measured", "## What mends it"];

/// The line with this id.
pub fn find(id: &str) -> Option<&'static Loss> {
    LOSSES.iter().copied().find(|loss| loss.id == id)
}
