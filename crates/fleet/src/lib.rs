//! Machines of a fleet against their peers.
//!
//! [`Machine`]s go in, from whatever source: a monitoring system, captures, audits. [`judge`] makes an [`Answer`] of them. Pure: no
//! input or output, no clock.

mod answer;
mod candidate;
mod chance;
mod cohort;
mod columns;
mod comparison;
mod contrast;
mod differences;
mod eligible;
mod evidence;
mod explain;
mod few;
#[cfg(test)]
mod fixture;
mod healthy;
mod judge;
mod machine;
mod minority;
mod peers;
mod question;
mod same;
mod scene;
mod screen;
mod slow;
mod tail;
mod trimmed;

pub use answer::{
    Answer, Contrast, Explanation, Group, Minority, Slow, Subject, Suspect, Telling, TooFew,
    Unusual,
};
pub use comparison::{Comparison, Untold, compared};
pub use differences::{Difference, differences};
pub use judge::judge;
pub use machine::{Attribute, Audit, Figure, Kind, Machine, Measured, SEVERITIES, Words};
pub use minority::FEW;
pub use question::{MODEL, Question};
