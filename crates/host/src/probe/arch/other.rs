//! A processor of which nobody has said how many cycles its instructions take: there is time, and no chain.

use super::Chain;
use crate::probe::anchor::raw_ns;

/// No chain of additions.
pub(crate) const ADDS: Option<Chain> = None;
/// No chain of exclusive ors.
pub(crate) const XORS: Option<Chain> = None;

/// CLOCK_MONOTONIC_RAW in nanoseconds.
pub(crate) fn now() -> u64 {
    raw_ns()
}

/// The same.
pub(crate) fn now_in_order() -> u64 {
    now()
}
