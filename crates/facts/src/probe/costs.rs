//! What one event costs on this machine, as a thread that watches its own time line finds it.
//!
//! Such a cost is the whole gap: entry and exit of the kernel, which no tracepoint sees, and the softirqs that run
//! before the interrupted task goes on. It is a mean over the events of one moment.

use crate::Fact;

/// The costs of the events that take a CPU from its task for a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct EventCosts {
    /// An interrupt of the CPU's own timer (`LOC`), with the softirqs that follow it.
    pub tick: Fact<EventCost>,
    /// Any other interrupt, with the softirqs that follow it.
    pub interrupt: Fact<EventCost>,
}

/// The cost of one kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventCost {
    /// Of one event, in nanoseconds.
    pub ns: u64,
    /// How far off that may be, in nanoseconds.
    pub uncertainty_ns: u64,
}
