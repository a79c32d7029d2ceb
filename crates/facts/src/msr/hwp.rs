//! Hardware-controlled performance states (HWP): what the kernel asks of the processor, in ratios.
//!
//! Intel SDM vol. 3B, "Hardware-Controlled Performance States". A read of 0x774 gives what was last written, not
//! what the hardware made of it.

/// IA32_HWP_CAPABILITIES (0x771): levels that the processor knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities(pub u64);

/// IA32_HWP_REQUEST (0x774) or IA32_HWP_REQUEST_PKG (0x772): levels that were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request(pub u64);

impl Capabilities {
    /// The highest level.
    pub fn highest(self) -> u64 {
        self.0 & 0xff
    }

    /// The level that can be held; it may change at run time.
    pub fn guaranteed(self) -> u64 {
        self.0 >> 8 & 0xff
    }

    /// The lowest level.
    pub fn lowest(self) -> u64 {
        self.0 >> 24 & 0xff
    }
}

impl Request {
    /// The lowest level allowed.
    pub fn min(self) -> u64 {
        self.0 & 0xff
    }

    /// The highest level allowed.
    pub fn max(self) -> u64 {
        self.0 >> 8 & 0xff
    }

    /// The energy performance preference: 0 is performance, 255 is power saving.
    pub fn preference(self) -> u64 {
        self.0 >> 24 & 0xff
    }

    /// Whether the limits of the package's register rule this CPU (bit 42, 0x774 only).
    pub fn follows_package(self) -> bool {
        self.0 >> 42 & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_xeons_levels_are_read_from_their_bytes() {
        let capabilities = Capabilities(0x070f_1827);
        let levels = (capabilities.highest(), capabilities.guaranteed(), capabilities.lowest());
        assert_eq!(levels, (39, 24, 7));
        let request = Request(0x8000_270a);
        assert_eq!((request.min(), request.max(), request.preference()), (10, 39, 128));
        assert!(!request.follows_package());
    }
}
