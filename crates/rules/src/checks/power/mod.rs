//! Limits on power and on what is not a core.

pub(super) mod low_power_limit;
pub(super) mod uncore_capped;
