//! Limits on power and on what is not a core.

pub(super) mod bmc_power_cap;
pub(super) mod low_power_limit;
pub(super) mod uncore_capped;
