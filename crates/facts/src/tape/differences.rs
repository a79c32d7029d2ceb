//! Long rows of differences, most of which are zero.
//!
//! A zero is followed by the number of further zeros, so that a run of zeros of any length takes two numbers.

use super::wire::{Bytes, put_number};
use crate::parse::Expected;

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
