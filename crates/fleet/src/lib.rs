//! Machines of a fleet against their peers.
//!
//! [`Machine`]s go in, whatever told of them: a monitoring system, captures, audits. An [`Answer`] comes out. Pure: no input or output,
//! no clock.

mod answer;
mod differences;
mod machine;
mod question;

pub use answer::{Answer, Contrast, Explanation, Group, Slow, Subject, Telling, TooFew};
pub use differences::{Difference, differences};
pub use machine::{Attribute, Figure, Kind, Machine, Severity, Words};
pub use question::{MODEL, Question};
