//! Who chooses the clock, and within which limits.

pub(super) mod capped_frequency;
pub(super) mod slow_governor;
pub(super) mod turbo_off;
