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

/// An amount of data in bytes: of a message, of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, if self.0 == 1 { "byte" } else { "bytes" })
    }
}

/// What a wire signals, in bits per second; thousands are decimal there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitsPerSecond(pub u64);

impl BitsPerSecond {
    /// So many of 10^6.
    pub fn from_megabits(megabits: u64) -> BitsPerSecond {
        BitsPerSecond(megabits.saturating_mul(1_000_000))
    }

    /// In 10^9.
    pub fn gigabits(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Eight bits are a byte.
    pub fn bytes(self) -> BytesPerSecond {
        BytesPerSecond(self.0 / 8)
    }
}

/// In Gb/s with as many places as there are, at most four.
impl fmt::Display for BitsPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.4}", self.gigabits());
        write!(f, "{} Gb/s", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// A rate at which data moves, in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BytesPerSecond(pub u64);

impl BytesPerSecond {
    /// In 10^6 bytes.
    pub fn megabytes(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// In 2^20 bytes, which perftest calls `MiB/sec`, and `MB/sec` before.
    pub fn mebibytes(self) -> f64 {
        self.0 as f64 / f64::from(1 << 20)
    }

    /// How much of `whole` this is, 1 being all of it.
    pub fn share_of(self, whole: BytesPerSecond) -> f64 {
        self.0 as f64 / whole.0.max(1) as f64
    }

    /// What is left of it where only `part` of `whole` counts.
    #[must_use]
    pub fn scaled(self, part: u64, whole: u64) -> BytesPerSecond {
        let scaled = u128::from(self.0) * u128::from(part) / u128::from(whole.max(1));
        BytesPerSecond(u64::try_from(scaled).unwrap_or(u64::MAX))
    }
}

/// In decimal thousands, as links are sold: `3.37 GB/s`, `118.3 MB/s`.
impl fmt::Display for BytesPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1_000_000_000.. => write!(f, "{:.2} GB/s", self.0 as f64 / 1e9),
            1_000_000.. => write!(f, "{:.1} MB/s", self.megabytes()),
            _ => write!(f, "{:.1} kB/s", self.0 as f64 / 1e3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_written_as_links_are_sold() {
        assert_eq!(BitsPerSecond::from_megabits(2500).to_string(), "2.5 Gb/s");
        assert_eq!(BitsPerSecond(14_062_500_000).to_string(), "14.0625 Gb/s");
        assert_eq!(BitsPerSecond::from_megabits(40_000).bytes().to_string(), "5.00 GB/s");
        assert_eq!(BytesPerSecond(118_260_000).to_string(), "118.3 MB/s");
        assert_eq!(BytesPerSecond(2_250).to_string(), "2.2 kB/s");
    }

    #[test]
    fn a_rate_without_end_is_scaled_and_not_wrapped() {
        assert_eq!(BytesPerSecond(u64::MAX).scaled(64, 66).0, 17_887_751_829_051_686_414);
        assert_eq!(BytesPerSecond(u64::MAX).scaled(3, 2).0, u64::MAX);
        assert_eq!(BytesPerSecond(7).scaled(1, 0).0, 7);
    }
}
