//! When a sample was taken, by three clocks.

/// One instant, by the clocks that disagree when something is wrong. All in nanoseconds.
///
/// Source: clock_gettime(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// `CLOCK_MONOTONIC_RAW`: what intervals are measured by. Nobody sets or slews it; it stands still while
    /// the machine is suspended.
    pub raw_ns: u64,
    /// `CLOCK_BOOTTIME`: goes on while the machine is suspended, so that a suspension shows.
    pub boot_ns: u64,
    /// `CLOCK_REALTIME`: for people only; it jumps when somebody sets it.
    pub real_ns: u64,
}
