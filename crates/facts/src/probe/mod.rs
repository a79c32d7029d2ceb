//! The results of probes: the clock by a chain of dependent instructions, the time of dependent loads, the gaps in the time
//! line of a CPU, and the costs of events.
//!
//! The probes are in `host`; their raw ticks are interpreted here, so that this can be tested without measuring.

mod clock;
mod gaps;
mod loads;
mod ticks;

pub use clock::{ClockReading, Disturbance, Segment, Window};
pub use gaps::{Call, EventCost, EventCosts, Gap, Gaps, NotKept};
pub use loads::{Batch, LoadReading, LoadTime};
pub use ticks::{Anchor, TickClock};
