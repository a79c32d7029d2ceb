//! Limits on power, and the clock of what is not a core.

pub mod limit;
pub mod uncore;
