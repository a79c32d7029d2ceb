//! Units in types, so that a number cannot be taken for another kind of number.

use std::fmt;

/// One tick of USER_HZ, in which /proc/stat and /proc/PID/stat count time: 100 a second whatever the kernel's own HZ, on
/// every architecture that databases run on (include/asm-generic/param.h).
pub const USER_TICK_NS: u64 = 10_000_000;

/// A frequency in Hz.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hertz(pub u64);

impl Hertz {
    /// The frequency of `mhz` MHz.
    pub fn from_mhz(mhz: u64) -> Hertz {
        Hertz(mhz.saturating_mul(1_000_000))
    }

    /// In kHz, as cpufreq writes it.
    pub fn khz(self) -> u64 {
        self.0 / 1000
    }

    /// In MHz, with its fraction.
    pub fn mhz(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// How much of `whole` this is, 1 being all of it.
    pub fn share_of(self, whole: Hertz) -> f64 {
        self.0 as f64 / whole.0.max(1) as f64
    }
}

/// In MHz without a fraction: the way people name a clock.
impl fmt::Display for Hertz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} MHz", self.mhz())
    }
}

/// A power in millionths of a watt, as powercap writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Microwatts(pub u64);

impl Microwatts {
    /// How much of `whole` this is, 1 being all of it.
    pub fn share_of(self, whole: Microwatts) -> f64 {
        self.0 as f64 / whole.0.max(1) as f64
    }
}

/// In watts without a fraction.
impl fmt::Display for Microwatts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} W", self.0 as f64 / 1e6)
    }
}
