//! What CPUs lost, as a document, as JSON and as CSV.

pub mod csv;
pub mod document;
#[cfg(test)]
mod fixture;
pub mod json;

use facts::counters::Moment;
use facts::{HostView, Missing};
use rules::noise::Noise;

/// What CPUs lost, and what has to be said with it.
pub struct Report<'a> {
    /// The machine.
    pub host: &'a HostView,
    /// What its CPUs lost.
    pub noise: &'a Noise,
    /// A moment on all clocks, not long before the first spinner began.
    pub at: Moment,
    /// Why nothing was traced, where something was to be.
    pub untraced: Option<&'a Missing>,
    /// Whether this program had a CPU of its own.
    pub is_apart: bool,
}

impl Report<'_> {
    /// A moment of CLOCK_MONOTONIC_RAW, in nanoseconds since the first spinner began.
    fn since_start_ns(&self, raw_ns: u64) -> u64 {
        raw_ns.saturating_sub(self.noise.started_ns())
    }

    /// A moment of CLOCK_MONOTONIC_RAW, in nanoseconds since 1970, as far as nobody has set the clock meanwhile.
    fn real_ns(&self, raw_ns: u64) -> u64 {
        self.at.real_ns.saturating_add(raw_ns.saturating_sub(self.at.raw_ns))
    }
}
