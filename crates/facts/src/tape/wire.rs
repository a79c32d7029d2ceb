//! Numbers, texts and reasons as bytes; small numbers take few.
//!
//! A number takes seven bits per byte, the lowest first; the highest bit of a byte says that more follow (LEB128,
//! DWARF 5 section 7.6). A text is its length and its UTF-8. Differences wrap, so that any two numbers have one,
//! and are zigzag-encoded, so that a small step down is as short as a small step up. A reason says why something is
//! missing.
//!
//! Most of a long row of differences are zero. A zero is followed by the number of further zeros, so that a run of zeros of any
//! length takes two numbers.

use crate::parse::Expected;
use crate::{Missing, Why};

pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Appends a section of a frame: its tag, its length and its bytes.
pub(super) fn put_section(out: &mut Vec<u8>, tag: u64, section: &[u8]) {
    put_number(out, tag);
    put_number(out, section.len() as u64);
    out.extend_from_slice(section);
}

/// The zigzag-encoded difference from `from` to `to`: small where they are close.
pub(super) fn difference(from: u64, to: u64) -> u64 {
    let step = to.wrapping_sub(from);
    (step << 1) ^ (step >> 63).wrapping_neg()
}

/// The number at this difference from `from`.
pub(super) fn at_difference(from: u64, difference: u64) -> u64 {
    from.wrapping_add((difference >> 1) ^ (difference & 1).wrapping_neg())
}

/// Bytes to parse.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Bytes<'a> {
        Bytes(bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of bytes left, which limits the length of every list.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn number(&mut self) -> Result<u64, Expected> {
        const NUMBER: Expected = Expected("a number of at most 64 bits");
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or(NUMBER)?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(NUMBER);
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(NUMBER)
    }

    /// The next number, of at most 32 bits.
    pub(super) fn small(&mut self) -> Result<u32, Expected> {
        u32::try_from(self.number()?).map_err(|_| Expected("a number of at most 32 bits"))
    }

    /// The next number, as the length of a list whose elements take at least one byte each.
    pub(super) fn count(&mut self) -> Result<usize, Expected> {
        let count = self.number()?;
        let count = usize::try_from(count).ok().filter(|&it| it <= self.len());
        count.ok_or(Expected("no more members than there are bytes"))
    }

    /// The next `length` bytes.
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Expected> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Expected("more bytes"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, Expected> {
        let length = self.count()?;
        std::str::from_utf8(self.take(length)?).map_err(|_| Expected("UTF-8"))
    }

    /// The next section of a frame: its tag and its bytes.
    pub(super) fn section(&mut self) -> Result<(u64, Bytes<'a>), Expected> {
        let tag = self.number()?;
        let length = self.count()?;
        Ok((tag, Bytes(self.take(length)?)))
    }
}

/// Appends a reason. The numbers of the reasons never change.
pub(super) fn put_missing(out: &mut Vec<u8>, missing: &Missing) {
    let (number, texts): (u64, [Option<&str>; 2]) = match &missing.why {
        Why::NotHere(because) => (0, [Some(because), None]),
        Why::Hidden(hypervisor) => (1, [Some(hypervisor), None]),
        Why::Absent => (2, [None, None]),
        Why::Denied => (3, [None, None]),
        Why::NotCollected => (4, [None, None]),
        Why::Failed(error) => (5, [Some(error), None]),
        Why::Malformed { found, expected } => (6, [Some(found), Some(expected)]),
    };
    put_number(out, number);
    put_text(out, &missing.what);
    texts.into_iter().flatten().for_each(|text| put_text(out, text));
}

pub(super) fn take_missing(bytes: &mut Bytes) -> Result<Missing, Expected> {
    let number = bytes.number()?;
    let what = bytes.text()?.to_owned();
    let mut text = || bytes.text().map(str::to_owned);
    let why = match number {
        0 => Why::NotHere(text()?),
        1 => Why::Hidden(text()?),
        2 => Why::Absent,
        3 => Why::Denied,
        4 => Why::NotCollected,
        5 => Why::Failed(text()?),
        6 => Why::Malformed { found: text()?, expected: text()?.into() },
        _ => return Err(Expected("a reason why something is missing")),
    };
    Ok(Missing { what, why })
}

/// Appends differences to bytes.
pub(super) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Zeros that were not written yet.
    zeros: u64,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Writer<'a> {
        Writer { out, zeros: 0 }
    }

    pub(super) fn push(&mut self, difference: u64) {
        if difference == 0 {
            self.zeros += 1;
        } else {
            self.flush();
            put_number(self.out, difference);
        }
    }

    /// Writes the last zeros; without it they are lost.
    pub(super) fn finish(mut self) {
        self.flush();
    }

    fn flush(&mut self) {
        if self.zeros > 0 {
            put_number(self.out, 0);
            put_number(self.out, self.zeros - 1);
            self.zeros = 0;
        }
    }
}

/// Takes differences from bytes; the caller knows their number.
pub(super) struct Reader<'a, 'b> {
    bytes: &'b mut Bytes<'a>,
    zeros: u64,
}

impl<'a, 'b> Reader<'a, 'b> {
    pub(super) fn new(bytes: &'b mut Bytes<'a>) -> Reader<'a, 'b> {
        Reader { bytes, zeros: 0 }
    }

    pub(super) fn next(&mut self) -> Result<u64, Expected> {
        if self.zeros > 0 {
            self.zeros -= 1;
            return Ok(0);
        }
        let difference = self.bytes.number()?;
        if difference == 0 {
            self.zeros = self.bytes.number()?;
        }
        Ok(difference)
    }

    /// Fails if zeros are left: both lists must have the same length.
    pub(super) fn finish(self) -> Result<(), Expected> {
        if self.zeros == 0 { Ok(()) } else { Err(Expected("as many differences as cells")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_comes_back(number: u64) {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            prop_assert_eq!(Bytes::new(&bytes).number(), Ok(number));
        }

        #[test]
        fn any_two_numbers_have_a_difference(from: u64, to: u64) {
            prop_assert_eq!(at_difference(from, difference(from, to)), to);
        }
    }

    #[test]
    fn small_steps_are_short() {
        assert_eq!([difference(5, 5), difference(5, 4), difference(5, 6)], [0, 1, 2]);
        assert_eq!(difference(0, u64::MAX), 1);
    }

    #[test]
    fn a_number_without_end_and_one_of_65_bits_are_refused() {
        assert!(Bytes::new(&[0x80; 3]).number().is_err());
        assert!(Bytes::new(&[0xff; 20]).number().is_err());
        let largest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Bytes::new(&largest).number(), Ok(u64::MAX));
        let larger = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        assert!(Bytes::new(&larger).number().is_err());
    }

    #[test]
    fn a_text_longer_than_what_is_left_is_refused() {
        assert!(Bytes::new(&[200, 1, b'a']).text().is_err());
        assert!(Bytes::new(&[1, 0xff]).text().is_err());
        assert_eq!(Bytes::new(&[1, b'a']).text(), Ok("a"));
    }

    #[test]
    fn every_reason_comes_back() {
        let failed = |text: &str| Why::Failed(text.to_owned());
        let reasons = [
            Missing::not_here("a", "b"),
            Missing::hidden("a", "KVM"),
            Missing::absent("/a"),
            Missing::denied("/a"),
            Missing::not_collected("/a"),
            Missing { what: "/é".into(), why: failed("Input/output error (os error 5)") },
            Missing::malformed("/a", "x", "a number"),
        ];
        for reason in reasons {
            let mut bytes = Vec::new();
            put_missing(&mut bytes, &reason);
            assert_eq!(take_missing(&mut Bytes::new(&bytes)), Ok(reason));
        }
    }

    #[test]
    fn a_reason_that_nobody_has_is_refused() {
        assert!(take_missing(&mut Bytes::new(&[7, 0])).is_err());
    }

    fn written(differences: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        differences.iter().for_each(|&it| writer.push(it));
        writer.finish();
        bytes
    }

    proptest! {
        #[test]
        fn differences_come_back(differences in prop::collection::vec(0u64..4, 0..50)) {
            let bytes = written(&differences);
            let mut bytes = Bytes::new(&bytes);
            let mut reader = Reader::new(&mut bytes);
            for difference in differences {
                prop_assert_eq!(reader.next(), Ok(difference));
            }
            prop_assert_eq!(reader.finish(), Ok(()));
        }
    }

    #[test]
    fn a_thousand_zeros_take_three_bytes() {
        assert_eq!(written(&[0; 1000]).len(), 3);
    }

    #[test]
    fn zeros_beyond_the_last_cell_are_refused() {
        let bytes = written(&[0, 0]);
        let mut bytes = Bytes::new(&bytes);
        let mut reader = Reader::new(&mut bytes);
        assert_eq!(reader.next(), Ok(0));
        assert!(reader.finish().is_err());
    }
}
