//! The reason why something is missing, as bytes.

use super::wire::{Bytes, put_number, put_text};
use crate::parse::Expected;
use crate::{Missing, Why};

/// Appends a reason. The numbers stay with their reasons for as long as tapes are read.
pub(super) fn put(out: &mut Vec<u8>, missing: &Missing) {
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

/// The next reason.
pub(super) fn take(bytes: &mut Bytes) -> Result<Missing, Expected> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
            put(&mut bytes, &reason);
            assert_eq!(take(&mut Bytes::new(&bytes)), Ok(reason));
        }
    }

    #[test]
    fn a_reason_that_nobody_has_is_refused() {
        assert!(take(&mut Bytes::new(&[7, 0])).is_err());
    }
}
