//! Round trips to a controller, condition by condition.

use super::{Times, Waits};
use std::time::Duration;

/// What was asked, and under which conditions.
pub struct Latency {
    /// What the figures depend on: names and words.
    pub about: Vec<(String, String)>,
    /// In the order in which they came about; each has a round trip at least.
    pub conditions: Vec<Condition>,
}

/// Round trips under one load.
pub struct Condition {
    /// Whether every CPU was kept busy meanwhile.
    pub is_loaded: bool,
    /// How long the round trips took.
    pub times: Times,
    /// What the thread that polls was accounted; `None` where there is none, or nobody knows.
    pub polled: Option<Duration>,
    /// How long all of them took.
    pub elapsed: Duration,
    /// How long the interface let the thread wait, byte by byte; or why nobody could see.
    pub waits: Result<Waits, String>,
}
