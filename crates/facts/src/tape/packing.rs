//! Payloads in fewer bytes, by what the payloads since the last key frame have taught.
//!
//! A payload is sections of numbers, seven bits to a byte. Where a number ends, and what its last and highest bits are,
//! is much the same from sample to sample; the bits below are noise and are written as they are. So each byte is
//! written as a bit, whether the number ends, and seven more, with the section, the place in it and the lengths of the
//! numbers before as the circumstances that make a bit likely or not. Texts have circumstances of their own
//! accord: they look like numbers of a byte each.
//!
//! Any bytes can be packed: what is no number costs room, and nothing else.

use super::likelihood::Likelihoods;
use super::range::{Coder, Reader, Writer};
use super::wire::{Bytes, put_number};
use crate::parse::Expected;

/// Stands for the length of bytes that follow as they are.
const UNPACKED: u64 = 0;

/// No payload unpacks to more than so many bytes for each of its own: eight bits, each at least 1/256 a surprise,
/// which is 0.0056 bits.
const MOST_FOR_A_BYTE: usize = 180;

/// What is known of the payloads before.
#[derive(Clone, Debug)]
pub(super) struct Packing {
    likelihoods: Likelihoods,
}

impl Packing {
    /// Nothing is known: as before a key frame.
    pub(super) fn new() -> Packing {
        Packing { likelihoods: Likelihoods::new() }
    }

    /// The payload in fewer bytes.
    pub(super) fn pack(&mut self, payload: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        put_number(&mut packed, payload.len() as u64);
        let mut writer = Writer::new(&mut packed);
        let mut place = Place::default();
        payload.iter().for_each(|&byte| {
            self.byte(&mut writer, &mut place, byte);
        });
        writer.finish();
        packed
    }

    /// The payload that was packed; its length is at most `longest`.
    pub(super) fn unpack(&mut self, packed: &[u8], longest: usize) -> Result<Vec<u8>, Expected> {
        let mut bytes = Bytes::new(packed);
        let length = bytes.number()?;
        let packed = bytes.take(bytes.len())?;
        if length == UNPACKED {
            return Ok(packed.to_vec());
        }
        let longest = longest.min((packed.len() + 1).saturating_mul(MOST_FOR_A_BYTE));
        let length = usize::try_from(length).ok().filter(|it| *it <= longest);
        let length = length.ok_or(Expected("a payload that is not longer"))?;
        let mut reader = Reader::new(packed);
        let mut place = Place::default();
        Ok((0..length).map(|_| self.byte(&mut reader, &mut place, 0)).collect())
    }

    /// The byte at a place, which moves on.
    fn byte(&mut self, coder: &mut impl Coder, place: &mut Place, byte: u8) -> u8 {
        let goes_on = self.bit(coder, place.of_length(), byte >= 0x80);
        let low = if goes_on {
            (0..7)
                .rev()
                .fold(0, |low, at| low << 1 | u8::from(coder.bit(1 << 15, byte >> at & 1 != 0)))
        } else {
            let bits = (0..7).rev().fold(1, |above, at| {
                above << 1 | u8::from(self.bit(coder, place.of_bit(above), byte >> at & 1 != 0))
            });
            bits & 0x7f
        };
        let byte = u8::from(goes_on) << 7 | low;
        place.step(byte);
        byte
    }

    fn bit<const N: usize>(
        &mut self,
        coder: &mut impl Coder,
        circumstances: [u64; N],
        bit: bool,
    ) -> bool {
        let bit = coder.bit(self.likelihoods.of(circumstances), bit);
        self.likelihoods.learn(circumstances, bit);
        bit
    }
}

/// Numbers of a section that are told apart by their place; the others share one.
const PLACES: u64 = 120;

/// Where in a payload a byte stands.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    part: Part,
    tag: u64,
    /// The bytes of the section that are to come.
    left: u64,
    /// How many numbers of the section came before.
    n_before: u64,
    /// The lengths of the last three, four bits each.
    lengths: u64,
    /// The last byte of the last one.
    last: u64,
    /// The number as far as it has come, and how many bytes that is.
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

impl Place {
    /// What makes it likely that a number goes on.
    fn of_length(&self) -> [u64; 2] {
        [
            self.circumstance(1, &[(self.lengths, 12)]),
            self.circumstance(2, &[(self.n_before.min(PLACES), 7)]),
        ]
    }

    /// What makes a bit of the last byte likely, where those above it are `above`, below a 1.
    fn of_bit(&self, above: u8) -> [u64; 3] {
        let above = (u64::from(above), 8);
        let before = self.lengths & 0xf;
        [
            self.circumstance(3, &[above]),
            self.circumstance(4, &[above, (self.last, 8), (before, 4)]),
            self.circumstance(5, &[above, (self.n_before.min(PLACES), 7)]),
        ]
    }

    /// One number of fields of so many bits each, besides what is always told apart.
    fn circumstance(&self, kind: u64, fields: &[(u64, u32)]) -> u64 {
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
        let is_end = byte < 0x80;
        if self.part == Part::Content {
            self.left = self.left.saturating_sub(1);
        }
        if is_end {
            self.n_before += 1;
            self.lengths = (self.lengths << 4 | self.length.min(15)) & 0xfff;
            self.last = bits;
        }
        let number = self.number;
        if is_end {
            (self.number, self.length) = (0, 0);
        }
        match self.part {
            Part::Tag if is_end => {
                *self = Place { part: Part::Length, tag: number, ..Place::default() }
            }
            Part::Length if is_end && number > 0 => {
                *self =
                    Place { part: Part::Content, left: number, tag: self.tag, ..Place::default() }
            }
            Part::Length if is_end => *self = Place::default(),
            Part::Content if self.left == 0 => *self = Place::default(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::put_section;
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_come_back(payloads in vec(vec(any::<u8>(), 0..100), 1..4)) {
            let (mut packing, mut unpacking) = (Packing::new(), Packing::new());
            for payload in payloads {
                let packed = packing.pack(&payload);
                prop_assert_eq!(unpacking.unpack(&packed, 100), Ok(payload));
            }
        }

        #[test]
        fn bytes_that_nobody_packed_do_no_harm(packed in vec(any::<u8>(), 0..100)) {
            drop(Packing::new().unpack(&packed, 1 << 16));
        }
    }

    fn payload(second: u64) -> Vec<u8> {
        let (mut payload, mut section) = (Vec::new(), Vec::new());
        [2, 0, 900 + second % 7, 3, 0, 40].iter().for_each(|it| put_number(&mut section, *it));
        put_section(&mut payload, 18, &section);
        payload
    }

    #[test]
    fn what_repeats_takes_less_from_sample_to_sample() {
        let mut packing = Packing::new();
        let lengths: Vec<usize> = (0..60).map(|it| packing.pack(&payload(it)).len()).collect();
        assert_eq!((payload(0).len(), lengths[0], lengths[59]), (9, 10, 2));
    }

    #[test]
    fn the_longest_that_can_be_packed_is_unpacked_and_no_more_is_believed() {
        let zeros = vec![0; 1 << 20];
        let packed = Packing::new().pack(&zeros);
        assert_eq!(Packing::new().unpack(&packed, 1 << 20), Ok(zeros));
        assert!(Packing::new().unpack(&packed, (1 << 20) - 1).is_err());
        assert!(Packing::new().unpack(&[0xff, 0xff, 0x03, 1, 2, 3], 1 << 20).is_err());
    }

    #[test]
    fn bytes_as_they_are_stay_so() {
        assert_eq!(Packing::new().unpack(&[0, 7, 8], 100), Ok(vec![7, 8]));
    }
}
