//! The lines of the ledger, a file for each source of evidence, in display order.

mod cgroup_quota;
mod idle;
mod interrupts;
mod slow_clock;
mod stolen;
mod stopped_clock;
mod tasks;
mod useful;

use crate::loss::Loss;

/// Every line. What is left when all are entered is unexplained.
pub const LOSSES: &[&Loss] = &[
    &idle::IDLE,
    &cgroup_quota::LOSS,
    &idle::IDLE_EXITS,
    &stolen::LOSS,
    &stopped_clock::LOSS,
    &slow_clock::LOSS,
    &interrupts::TICKS,
    &interrupts::INTERRUPTS,
    &interrupts::SOFTIRQS,
    &tasks::KERNEL_THREADS,
    &tasks::OTHER_TASKS,
    &tasks::MEASURING,
    &useful::LOSS,
];

/// The headings that the help of every line has, in this order.
pub const HEADINGS: &[&str] = &["## What it is", "## How it is measured", "## What fixes it"];

/// The line with this id.
pub fn find(id: &str) -> Option<&'static Loss> {
    LOSSES.iter().copied().find(|loss| loss.id == id)
}
