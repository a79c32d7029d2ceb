//! How deep CPUs without work may sleep.

pub(super) mod turbo_headroom_lost;
