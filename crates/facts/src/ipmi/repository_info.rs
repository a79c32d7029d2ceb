//! Get SDR Repository Info: how many sensor records there are, and when they changed.
//!
//! Source: IPMI 2.0, section 33.9. The timestamps tell whether records that were read once are still those that there
//! are.

use super::{Question, Timestamp};
use crate::Expected;

/// What a controller says of its sensor records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryInfo {
    /// The version of the records, 1.5 nearly everywhere.
    pub version: (u8, u8),
    /// How many records there are.
    pub n_records: u16,
    /// How many bytes are free: FFFEh is so many or more, and `None` unspecified.
    pub free_bytes: Option<u16>,
    /// When a record was added last.
    pub last_addition: Option<Timestamp>,
    /// When a record was deleted, or all of them, last.
    pub last_erase: Option<Timestamp>,
}

impl RepositoryInfo {
    /// Asks for it.
    pub fn question() -> Question<RepositoryInfo> {
        let read = |_: &[u8], data: &[u8]| RepositoryInfo::parse(data);
        let (name, data) = ("Get SDR Repository Info", Vec::new());
        Question { name, function: 0x0a, command: 0x20, data, read }
    }

    fn parse(data: &[u8]) -> Result<RepositoryInfo, Expected> {
        let [version, n0, n1, f0, f1, a0, a1, a2, a3, e0, e1, e2, e3, _operations] = *data else {
            return Err(Expected("14 bytes behind the completion code"));
        };
        Ok(RepositoryInfo {
            // The digits stand in the wrong order: 51h is version 1.5.
            version: (version & 0x0f, version >> 4),
            n_records: u16::from_le_bytes([n0, n1]),
            free_bytes: Some(u16::from_le_bytes([f0, f1])).filter(|it| *it != u16::MAX),
            last_addition: Timestamp::parse([a0, a1, a2, a3]),
            last_erase: Timestamp::parse([e0, e1, e2, e3]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: [u8; 15] =
        [0x00, 0x51, 0x5a, 0x00, 0x34, 0x12, 0x01, 0x00, 0x00, 0x5f, 0xff, 0xff, 0xff, 0xff, 0x2f];

    fn answered(data: &[u8]) -> Result<RepositoryInfo, super::super::Unanswered> {
        RepositoryInfo::question().answered(0x0b, 0x20, data)
    }

    #[test]
    fn a_repository_tells_its_size_and_its_changes() {
        let info = answered(&ANSWER).unwrap();
        assert_eq!((info.version, info.n_records, info.free_bytes), ((1, 5), 90, Some(0x1234)));
        assert_eq!(info.last_addition, Some(Timestamp::Date(0x5f00_0001)));
        assert_eq!(info.last_erase, None);
    }

    #[test]
    fn unspecified_space_is_not_a_lot_of_it() {
        let mut unspecified = ANSWER;
        (unspecified[4], unspecified[5]) = (0xff, 0xff);
        assert_eq!(answered(&unspecified).unwrap().free_bytes, None);
    }

    #[test]
    fn an_answer_has_fourteen_bytes() {
        assert!(answered(&ANSWER[..14]).is_err());
        assert!(answered(&[&ANSWER[..], &[0]].concat()).is_err());
    }
}
