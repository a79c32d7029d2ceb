//! What the probes found: the clock by a chain of dependent instructions, the gaps in a CPU's time line, and what
//! events cost.
//!
//! The probes themselves are in `host`; what their raw ticks mean is computed here, so that it can be tested without
//! the moment it was measured in.

mod clock;
mod gaps;
mod ticks;

pub use clock::{ClockReading, Disturbance, Segment, Window};
pub use gaps::{Call, EventCost, EventCosts, Gap, Gaps, NotKept};
pub use ticks::{Anchor, TickClock};
