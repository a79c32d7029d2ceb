//! How deep CPUs without work may sleep.

pub(super) mod no_idle_driver;
pub(super) mod slow_idle_governor;
pub(super) mod turbo_headroom_lost;
