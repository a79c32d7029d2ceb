//! Bits in as much room as they surprise: a range coder.
//!
//! Every bit halves the range of numbers that the bits so far leave, in proportion to how likely it was; the whole is
//! one number in what is left at the end. Source: G. N. N. Martin, "Range encoding: an algorithm for removing redundancy
//! from a digitised message", 1979. Only integers are used, so that a tape is read on any machine.

/// How likely a bit is to be set, in parts of 2^16; neither 0 nor 2^16.
pub(super) type Likelihood = u16;

/// Writes bits, or reads them: what goes through the same code on both ways cannot differ.
pub(super) trait Coder {
    /// The bit: a writer's own, a reader's from its bytes.
    fn bit(&mut self, likelihood: Likelihood, bit: bool) -> bool;
}

/// The numbers that are left: from `low` to `high`, both included.
#[derive(Clone, Copy, Debug)]
struct Range {
    low: u32,
    high: u32,
}

impl Range {
    const WHOLE: Range = Range { low: 0, high: u32::MAX };

    /// The last number of those that mean a bit that is set.
    fn split(self, likelihood: Likelihood) -> u32 {
        let width = u64::from(self.high.wrapping_sub(self.low));
        let set = (width * u64::from(likelihood)) >> 16;
        self.low.wrapping_add(set as u32)
    }

    fn narrow(&mut self, split: u32, bit: bool) {
        if bit {
            self.high = split;
        } else {
            self.low = split.wrapping_add(1);
        }
    }

    /// The highest byte, where all numbers that are left share it: it goes out, and eight bits come in below.
    fn shift(&mut self) -> Option<u8> {
        let byte = self.high >> 24;
        if self.low >> 24 != byte {
            return None;
        }
        self.low <<= 8;
        self.high = self.high << 8 | 0xff;
        Some(byte as u8)
    }
}

/// Appends bits to bytes.
pub(super) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    range: Range,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Writer<'a> {
        Writer { out, range: Range::WHOLE }
    }

    /// Writes what tells the last bits; a reader finds zeros behind it.
    pub(super) fn finish(self) {
        let Range { low, high } = self.range;
        // The highest bytes differ, so that the number with only one byte above the lowest is within.
        let byte = (low >> 24) + u32::from(low << 8 != 0);
        debug_assert!(low <= byte << 24 && byte << 24 <= high, "{low:x} {high:x}");
        self.out.extend((byte > 0).then_some(byte as u8));
    }
}

impl Coder for Writer<'_> {
    fn bit(&mut self, likelihood: Likelihood, bit: bool) -> bool {
        let split = self.range.split(likelihood);
        self.range.narrow(split, bit);
        while let Some(byte) = self.range.shift() {
            self.out.push(byte);
        }
        bit
    }
}

/// Takes bits from bytes; behind their end come zeros.
pub(super) struct Reader<'a> {
    bytes: std::slice::Iter<'a, u8>,
    range: Range,
    number: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        let mut reader = Reader { bytes: bytes.iter(), range: Range::WHOLE, number: 0 };
        (0..4).for_each(|_| reader.take());
        reader
    }

    fn take(&mut self) {
        self.number = self.number << 8 | u32::from(self.bytes.next().copied().unwrap_or(0));
    }
}

impl Coder for Reader<'_> {
    fn bit(&mut self, likelihood: Likelihood, _: bool) -> bool {
        let split = self.range.split(likelihood);
        let bit = self.number <= split;
        self.range.narrow(split, bit);
        while self.range.shift().is_some() {
            self.take();
        }
        bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn written(bits: &[(Likelihood, bool)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        for &(likelihood, bit) in bits {
            writer.bit(likelihood, bit);
        }
        writer.finish();
        bytes
    }

    proptest! {
        #[test]
        fn bits_come_back_however_unlikely(bits in vec((1..=u16::MAX, any::<bool>()), 0..200)) {
            let bytes = written(&bits);
            let mut reader = Reader::new(&bytes);
            for (likelihood, bit) in bits {
                prop_assert_eq!(reader.bit(likelihood, false), bit);
            }
        }
    }

    #[test]
    fn what_was_expected_takes_next_to_nothing_and_what_was_not_takes_more() {
        assert_eq!(written(&[(65_000, true); 1000]).len(), 1);
        assert_eq!(written(&[(1 << 15, true); 800]).len(), 100);
        assert_eq!(written(&[(65_000, false); 100]).len(), 87);
    }
}
