//! A model-specific register of an emulated CPU.

/// A register and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Msr {
    /// Its address.
    pub address: u32,
    /// What it holds after a reset.
    pub value: u64,
    /// Bits that may be written; setting any other one faults, as a reserved bit does.
    pub writable: u64,
}

impl Msr {
    /// A register that holds `value` and cannot be written to hold anything else.
    #[must_use]
    pub const fn fixed(address: u32, value: u64) -> Self {
        Self { address, value, writable: value }
    }

    /// The register as a line of Bochs' `msrs.def`: address, type, then high and low halves of the
    /// value, of the bits that fault when set, and of the bits a write leaves alone.
    pub(crate) fn definition(&self) -> String {
        let halves = |bits: u64| format!("{:08x} {:08x}", bits >> 32, bits & 0xffff_ffff);
        format!(
            "{:#x} 0 {} {} {}\n",
            self.address,
            halves(self.value),
            halves(!self.writable),
            halves(0)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definition_splits_every_mask_in_two_halves() {
        let msr = Msr { address: 0x19a, value: 0x14, writable: 0x1f };
        assert_eq!(
            msr.definition(),
            "0x19a 0 00000000 00000014 ffffffff ffffffe0 00000000 00000000\n"
        );
    }
}
