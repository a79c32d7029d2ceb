//! The kernel and the machine around the processors.

pub(super) mod slow_clocksource;
