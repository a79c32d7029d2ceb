//! Get SEL Info: how full the log is, and when it changed.
//!
//! Source: IPMI 2.0, section 31.2.

use super::STORAGE;
use crate::Expected;
use crate::ipmi::{Question, Timestamp};

/// What a controller says of its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLogInfo {
    /// The version of the entries, 1.5 nearly everywhere.
    pub version: (u8, u8),
    /// How many entries there are.
    pub n_entries: u16,
    /// How many bytes are free: FFFFh is so many or more.
    pub free_bytes: u16,
    /// When an entry was added last.
    pub last_addition: Option<Timestamp>,
    /// When an entry was deleted, or all of them, last.
    pub last_erase: Option<Timestamp>,
    /// Whether events were dropped for want of space.
    pub has_overflowed: bool,
}

impl EventLogInfo {
    /// Asks for it.
    pub fn question() -> Question<EventLogInfo> {
        let read = |_: &[u8], data: &[u8]| EventLogInfo::parse(data);
        let (name, data) = ("Get SEL Info", Vec::new());
        Question { name, function: STORAGE, command: 0x40, data, read }
    }

    fn parse(data: &[u8]) -> Result<EventLogInfo, Expected> {
        let [version, n0, n1, f0, f1, a0, a1, a2, a3, e0, e1, e2, e3, operations] = *data else {
            return Err(Expected("14 bytes behind the completion code"));
        };
        Ok(EventLogInfo {
            // The digits stand in the wrong order: 51h is version 1.5.
            version: (version & 0x0f, version >> 4),
            n_entries: u16::from_le_bytes([n0, n1]),
            free_bytes: u16::from_le_bytes([f0, f1]),
            last_addition: Timestamp::parse([a0, a1, a2, a3]),
            last_erase: Timestamp::parse([e0, e1, e2, e3]),
            has_overflowed: operations & 0x80 != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipmi::Unanswered;

    fn answered(data: &[u8]) -> Result<EventLogInfo, Unanswered> {
        EventLogInfo::question().answered(0x0b, 0x40, data)
    }

    /// Five entries, never erased, and one that did not fit.
    const ANSWER: [u8; 15] =
        [0x00, 0x51, 0x05, 0x00, 0xb0, 0x3f, 0x9a, 0x02, 0x00, 0x5f, 0xff, 0xff, 0xff, 0xff, 0x82];

    #[test]
    fn a_log_tells_its_size_and_its_changes() {
        let info = answered(&ANSWER).unwrap();
        assert_eq!((info.version, info.n_entries, info.free_bytes), ((1, 5), 5, 0x3fb0));
        assert_eq!(info.last_addition, Some(Timestamp::Date(0x5f00_029a)));
        assert_eq!(info.last_erase, None);
    }

    #[test]
    fn one_that_has_overflowed_says_so() {
        assert!(answered(&ANSWER).unwrap().has_overflowed);
        let mut fits = ANSWER;
        fits[14] = 0x02;
        assert!(!answered(&fits).unwrap().has_overflowed);
    }

    #[test]
    fn an_answer_has_fourteen_bytes() {
        assert!(answered(&ANSWER[..14]).is_err());
        assert!(answered(&[&ANSWER[..], &[0]].concat()).is_err());
    }
}
