//! Machines of a fleet against their peers.
//!
//! [`Machine`]s go in, whatever told of them: a monitoring system, captures, audits. An [`Answer`] comes out. Pure: no input or output,
//! no clock.

mod answer;
mod machine;

pub use answer::{Answer, Explanation, Group, Slow, TooFew};
pub use machine::{Attribute, Figure, Kind, Machine, Severity, Words};
