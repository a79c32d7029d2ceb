//! Who chooses the clock, and within which limits.

pub(super) mod slow_governor;
