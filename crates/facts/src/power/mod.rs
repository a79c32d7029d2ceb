//! Limits on power, and the clock of what is not a core.

pub mod cap;
pub mod hsmp;
pub mod limit;
pub mod uncore;
