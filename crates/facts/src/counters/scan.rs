//! Reading the kernel's tables byte by byte, without a copy.
//!
//! /proc/interrupts of 1,024 CPUs has three million bytes, so its lines are walked once, cell by cell, and its
//! digits are added up where they stand.

use crate::Expected;

/// What is left of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan<'t>(pub(super) &'t [u8]);

impl<'t> Scan<'t> {
    /// Leaves out the blanks at the front. The end of a line is none.
    pub(super) fn skip_blanks(&mut self) {
        while let [b' ' | b'\t', rest @ ..] = self.0 {
            self.0 = rest;
        }
    }

    /// Takes a whole number with the blanks in front of it. What follows has to be white space or the end;
    /// otherwise, and where the number has more than 64 bits, nothing is taken.
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut rest = *self;
        rest.skip_blanks();
        let number = rest.digits()?;
        match rest.0.first() {
            None | Some(b' ' | b'\t' | b'\n') => {}
            Some(_) => return None,
        }
        *self = rest;
        Some(number)
    }

    /// Takes the digits at the front, whatever follows.
    pub(super) fn digits(&mut self) -> Option<u64> {
        let (mut number, mut rest) = (None, self.0);
        while let [digit @ b'0'..=b'9', behind @ ..] = rest {
            let shifted = number.unwrap_or(0_u64).checked_mul(10)?;
            number = Some(shifted.checked_add(u64::from(digit - b'0'))?);
            rest = behind;
        }
        self.0 = rest;
        number
    }

    /// Takes `prefix`, where it stands at the front.
    pub(super) fn prefix(&mut self, prefix: &[u8]) -> bool {
        let rest = self.0.strip_prefix(prefix);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Takes what is left of the line, and its end with it.
    pub(super) fn line(&mut self) -> &'t [u8] {
        let end = self.0.iter().position(|it| *it == b'\n').unwrap_or(self.0.len());
        let (line, rest) = self.0.split_at_checked(end).unwrap_or((self.0, &[]));
        self.0 = rest.get(1..).unwrap_or_default();
        line
    }

    /// Takes the name up to a colon, with the blanks around it; a line without a colon has none, and nothing is
    /// taken of it.
    pub(super) fn label(&mut self) -> Option<&'t [u8]> {
        let mut rest = *self;
        rest.skip_blanks();
        let end = rest.0.iter().position(|it| matches!(it, b':' | b'\n'))?;
        let (label, behind) = rest.0.split_at_checked(end)?;
        self.0 = behind.strip_prefix(b":")?;
        Some(label.trim_ascii_end())
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

/// The number in a small file of sysfs or procfs.
pub fn number(text: &[u8]) -> Result<u64, Expected> {
    const NUMBER: Expected = Expected("a whole number");
    let mut scan = Scan(text);
    let number = scan.number().ok_or(NUMBER)?;
    if scan.0.trim_ascii().is_empty() { Ok(number) } else { Err(NUMBER) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_ends_in_white_space() {
        let mut scan = Scan(b"  12\t3\n4x");
        assert_eq!((scan.number(), scan.number(), scan.number()), (Some(12), Some(3), None));
        scan.line();
        assert_eq!((scan.number(), scan.0), (None, &b"4x"[..]));
    }

    #[test]
    fn a_number_that_does_not_fit_is_none() {
        assert_eq!(Scan(b"18446744073709551615").number(), Some(u64::MAX));
        assert_eq!(Scan(b"18446744073709551616").number(), None);
    }

    #[test]
    fn a_label_never_comes_from_the_next_line() {
        assert_eq!(Scan(b"  LOC: 1").label(), Some(&b"LOC"[..]));
        assert_eq!(Scan(b"words\nLOC: 1").label(), None);
    }

    #[test]
    fn a_small_file_holds_one_number() {
        assert_eq!(number(b"42\n"), Ok(42));
        assert!(number(b"4 2\n").is_err() && number(b"-1\n").is_err() && number(b"").is_err());
    }
}
