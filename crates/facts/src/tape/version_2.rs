//! Reads what version 2 packed, which was written until November 2026.
//!
//! A payload was written with a range coder (G. N. N. Martin, "Range encoding: an algorithm for removing
//! redundancy from a digitised message", 1979), bit by bit. The model learns from the payloads since the last key
//! frame how likely a bit is in its context: the section, the position in it and the lengths of the numbers before.

use super::frame::LARGEST_PAYLOAD;
use super::wire::Bytes;
use crate::parse::Expected;

/// No payload unpacks to more bytes for each of its own: a byte is eight bits of at least 0.0056 bits each
/// ([`SUREST`]).
const MOST_FOR_A_BYTE: usize = 180;

/// How likely a bit is to be set, in parts of 2^16; neither 0 nor 2^16.
type Likelihood = u16;

const HALF: i32 = 1 << 15;

/// A bit that never changed has a likelihood of 255 in 256.
const SUREST: i32 = 1 << 8;

/// The number of slots that contexts are hashed to.
const SLOTS: usize = 1 << 16;

/// Unpacks payloads, from a key frame on.
#[derive(Debug)]
pub(super) struct Unpacker(Vec<Slot>);

/// What was seen in a context.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// How far the likelihood that a bit is set is above one half, in parts of 2^16.
    above_half: i16,
    /// From how many bits that is known.
    seen: u16,
}

impl Unpacker {
    pub(super) fn new() -> Unpacker {
        Unpacker(vec![Slot::default(); SLOTS])
    }

    /// The payload that was packed.
    pub(super) fn unpack(&mut self, packed: &[u8]) -> Result<Vec<u8>, Expected> {
        let mut bytes = Bytes::new(packed);
        let length = bytes.number()?;
        let packed = bytes.take(bytes.len())?;
        let longest = LARGEST_PAYLOAD.min((packed.len() + 1).saturating_mul(MOST_FOR_A_BYTE));
        let length = usize::try_from(length).ok().filter(|it| *it <= longest);
        let length = length.ok_or(Expected("a payload that is not longer"))?;
        let (mut bits, mut position) = (Bits::new(packed), Position::default());
        Ok((0..length).map(|_| self.byte(&mut bits, &mut position)).collect())
    }

    /// A byte that ends a number was written by its context; of one that does not, only that it does not.
    fn byte(&mut self, bits: &mut Bits, position: &mut Position) -> u8 {
        let goes_on = self.bit(bits, position.of_length());
        let low = if goes_on {
            (0..7).fold(0, |low, _| low << 1 | u8::from(bits.next(HALF as Likelihood)))
        } else {
            let with_mark = (0..7)
                .fold(1, |above, _| above << 1 | u8::from(self.bit(bits, position.of_bit(above))));
            with_mark & 0x7f
        };
        let byte = u8::from(goes_on) << 7 | low;
        position.step(byte);
        byte
    }

    fn bit<const N: usize>(&mut self, bits: &mut Bits, contexts: [u64; N]) -> bool {
        let slots = contexts.map(slot);
        let bit = bits.next(self.likelihood(slots));
        self.learn(slots, bit);
        bit
    }

    /// The mean of all contexts, weighted by how many bits each has seen and how sure it is.
    fn likelihood<const N: usize>(&self, slots: [usize; N]) -> Likelihood {
        /// More bits than this add no weight.
        const MANY: u16 = 20;
        let (mut sum, mut weights) = (0, 0);
        for at in slots {
            let slot = self.0.get(at).copied().unwrap_or_default();
            let above_half = i64::from(slot.above_half);
            let seen = i64::from(slot.seen.min(MANY));
            let weight = (above_half.abs() / 128 + 26) * (4 * seen + 1);
            sum += weight * above_half;
            weights += weight;
        }
        let likelihood = HALF + sum.checked_div(weights).unwrap_or(0) as i32;
        likelihood.clamp(SUREST, (1 << 16) - SUREST) as Likelihood
    }

    fn learn<const N: usize>(&mut self, slots: [usize; N], bit: bool) {
        /// How many of the latest bits a slot remembers.
        const MEMORY: u16 = 30;
        for at in slots {
            let Some(slot) = self.0.get_mut(at) else { continue };
            let was = i32::from(slot.above_half);
            let end = if bit { HALF - 1 } else { -HALF };
            // The n-th bit moves the mean by the n-th part, the first by two thirds.
            slot.above_half = (was + (end - was) * 2 / (2 * i32::from(slot.seen) + 3)) as i16;
            slot.seen = (slot.seen + 1).min(MEMORY);
        }
    }
}

/// Multiplicative hashing: Knuth, The Art of Computer Programming, volume 3, section 6.4; 2^64 over the golden ratio.
fn slot(context: u64) -> usize {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (context ^ (context >> 29)).wrapping_mul(MULTIPLIER);
    (mixed >> (u64::BITS - SLOTS.trailing_zeros())) as usize
}

/// The range decoder. After the end of its bytes it reads zeros.
struct Bits<'a> {
    bytes: std::slice::Iter<'a, u8>,
    low: u32,
    high: u32,
    number: u32,
}

impl<'a> Bits<'a> {
    fn new(bytes: &'a [u8]) -> Bits<'a> {
        let mut bits = Bits { bytes: bytes.iter(), low: 0, high: u32::MAX, number: 0 };
        (0..4).for_each(|_| bits.shift());
        bits
    }

    fn next(&mut self, likelihood: Likelihood) -> bool {
        let width = u64::from(self.high.wrapping_sub(self.low));
        let set = (width * u64::from(likelihood)) >> 16;
        let split = self.low.wrapping_add(set as u32);
        let bit = self.number <= split;
        if bit {
            self.high = split;
        } else {
            self.low = split.wrapping_add(1);
        }
        while self.low >> 24 == self.high >> 24 {
            self.shift();
        }
        bit
    }

    fn shift(&mut self) {
        self.low <<= 8;
        self.high = self.high << 8 | 0xff;
        self.number = self.number << 8 | u32::from(self.bytes.next().copied().unwrap_or(0));
    }
}

/// Where in a payload a byte is.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    part: Part,
    tag: u64,
    /// How many bytes of the section follow.
    left: u64,
    /// How many numbers of the section came before.
    n_before: u64,
    /// The lengths of the last three, four bits each.
    lengths: u64,
    /// The last byte of the last one.
    last: u64,
    /// The number so far, and its length in bytes.
    number: u64,
    length: u64,
}

/// What a number is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Tag,
    Length,
    Content,
}

impl Position {
    /// The contexts of whether a number goes on.
    fn of_length(&self) -> [u64; 2] {
        [self.context(1, &[(self.lengths, 12)]), self.context(2, &[(self.place(), 7)])]
    }

    /// The contexts of a bit of the last byte. `above` has the bits above it, after a 1.
    fn of_bit(&self, above: u8) -> [u64; 3] {
        let above = (u64::from(above), 8);
        let before = self.lengths & 0xf;
        [
            self.context(3, &[above]),
            self.context(4, &[above, (self.last, 8), (before, 4)]),
            self.context(5, &[above, (self.place(), 7)]),
        ]
    }

    /// The place of a number in its section, as far as places are different contexts.
    fn place(&self) -> u64 {
        self.n_before.min(120)
    }

    /// A context as one number: its fields, each of the given number of bits, after what all contexts share.
    fn context(&self, kind: u64, fields: &[(u64, u32)]) -> u64 {
        let part = match self.part {
            Part::Tag => 0,
            Part::Length => 1,
            Part::Content => 2,
        };
        let always = [(kind, 3), (part, 2), (self.tag & 0xff, 8), (self.length.min(15), 4)];
        always.iter().chain(fields).fold(0, |all, &(field, bits)| all << bits | field)
    }

    fn step(&mut self, byte: u8) {
        let bits = u64::from(byte & 0x7f);
        self.number |= bits.checked_shl((7 * self.length.min(9)) as u32).unwrap_or(0);
        self.length += 1;
        if self.part == Part::Content {
            self.left = self.left.saturating_sub(1);
        }
        let (number, is_end) = (self.number, byte < 0x80);
        if is_end {
            self.n_before += 1;
            self.lengths = (self.lengths << 4 | self.length.min(15)) & 0xfff;
            self.last = bits;
            (self.number, self.length) = (0, 0);
        }
        let next = |part| Position { part, ..Position::default() };
        match self.part {
            Part::Tag if is_end => *self = Position { tag: number, ..next(Part::Length) },
            Part::Length if is_end && number > 0 => {
                *self = Position { left: number, tag: self.tag, ..next(Part::Content) };
            }
            Part::Length if is_end => *self = next(Part::Tag),
            Part::Content if self.left == 0 => *self = next(Part::Tag),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn foreign_bytes_do_no_harm(packed in vec(any::<u8>(), 0..100)) {
            drop(Unpacker::new().unpack(&packed));
        }
    }

    #[test]
    fn few_bytes_that_claim_a_long_payload_are_refused() {
        assert!(Unpacker::new().unpack(&[0xff, 0xff, 0x03, 1, 2, 3]).is_err());
    }
}
