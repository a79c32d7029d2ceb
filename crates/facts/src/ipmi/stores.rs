//! Get SDR Repository Info and Get SEL Info: how much the two stores of a controller, the sensor records and the
//! event log, hold, and when they changed.
//!
//! Source: IPMI 2.0, sections 33.9, 31.2 and 37 (timestamps).

use super::Question;
use crate::Expected;

/// The network function Storage.
pub(super) const STORAGE: u8 = 0x0a;

/// A time, by the controller's clock, which has no time zone: most are set to UTC, some to local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timestamp {
    /// Seconds since 1970.
    Date(u32),
    /// Seconds since the controller started, while its clock is not set.
    SinceStart(u32),
}

/// The highest value that counts from the controller's start.
const LAST_SINCE_START: u32 = 0x2000_0000;

impl Timestamp {
    /// Parses a little-endian timestamp. `None` where it is unspecified: FFFFFFFFh by the specification, and 0 on
    /// controllers without a value.
    pub(super) fn parse(bytes: [u8; 4]) -> Option<Timestamp> {
        match u32::from_le_bytes(bytes) {
            0 | u32::MAX => None,
            seconds @ 1..=LAST_SINCE_START => Some(Timestamp::SinceStart(seconds)),
            seconds => Some(Timestamp::Date(seconds)),
        }
    }
}

/// The state of the sensor record repository. Its timestamps show whether records that were read before are still
/// valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryInfo {
    /// The version of the records, nearly always 1.5.
    pub version: (u8, u8),
    /// The number of records.
    pub n_records: u16,
    /// Free bytes: FFFEh means that many or more; `None` is unspecified.
    pub free_bytes: Option<u16>,
    /// When a record was last added.
    pub last_addition: Option<Timestamp>,
    /// When a record, or all of them, was last deleted.
    pub last_erase: Option<Timestamp>,
}

impl RepositoryInfo {
    /// The question for it.
    pub fn question() -> Question<RepositoryInfo> {
        let read = |_: &[u8], data: &[u8]| RepositoryInfo::parse(data);
        let (name, data) = ("Get SDR Repository Info", Vec::new());
        Question { name, function: STORAGE, command: 0x20, data, read }
    }

    fn parse(data: &[u8]) -> Result<RepositoryInfo, Expected> {
        let [version, n0, n1, f0, f1, a0, a1, a2, a3, e0, e1, e2, e3, _operations] = *data else {
            return Err(Expected("14 bytes after the completion code"));
        };
        Ok(RepositoryInfo {
            // The digits are in reverse order: 51h is version 1.5.
            version: (version & 0x0f, version >> 4),
            n_records: u16::from_le_bytes([n0, n1]),
            free_bytes: Some(u16::from_le_bytes([f0, f1])).filter(|it| *it != u16::MAX),
            last_addition: Timestamp::parse([a0, a1, a2, a3]),
            last_erase: Timestamp::parse([e0, e1, e2, e3]),
        })
    }
}

/// The state of the event log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLogInfo {
    /// The version of the entries, nearly always 1.5.
    pub version: (u8, u8),
    /// The number of entries.
    pub n_entries: u16,
    /// Free bytes: FFFFh means that many or more.
    pub free_bytes: u16,
    /// When an entry was last added.
    pub last_addition: Option<Timestamp>,
    /// When an entry, or all of them, was last deleted.
    pub last_erase: Option<Timestamp>,
    /// Whether events were dropped because the log was full.
    pub has_overflowed: bool,
}

impl EventLogInfo {
    /// The question for it.
    pub fn question() -> Question<EventLogInfo> {
        let read = |_: &[u8], data: &[u8]| EventLogInfo::parse(data);
        let (name, data) = ("Get SEL Info", Vec::new());
        Question { name, function: STORAGE, command: 0x40, data, read }
    }

    fn parse(data: &[u8]) -> Result<EventLogInfo, Expected> {
        let [version, n0, n1, f0, f1, a0, a1, a2, a3, e0, e1, e2, e3, operations] = *data else {
            return Err(Expected("14 bytes after the completion code"));
        };
        Ok(EventLogInfo {
            // The digits are in reverse order: 51h is version 1.5.
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

    #[test]
    fn what_is_unspecified_is_no_moment() {
        assert_eq!(Timestamp::parse([0xff; 4]), None);
        assert_eq!(Timestamp::parse([0; 4]), None);
    }

    #[test]
    fn a_clock_that_was_not_set_counts_from_the_start() {
        assert_eq!(Timestamp::parse([0x10, 0, 0, 0]), Some(Timestamp::SinceStart(16)));
        let last = Some(Timestamp::SinceStart(0x2000_0000));
        assert_eq!(Timestamp::parse([0, 0, 0, 0x20]), last);
        let date = Some(Timestamp::Date(0x2000_0001));
        assert_eq!(Timestamp::parse([1, 0, 0, 0x20]), date);
    }

    const REPOSITORY_ANSWER: [u8; 15] =
        [0x00, 0x51, 0x5a, 0x00, 0x34, 0x12, 0x01, 0x00, 0x00, 0x5f, 0xff, 0xff, 0xff, 0xff, 0x2f];

    fn repository_in(data: &[u8]) -> Result<RepositoryInfo, Unanswered> {
        RepositoryInfo::question().answered(0x0b, 0x20, data)
    }

    #[test]
    fn a_repository_tells_its_size_and_its_changes() {
        let info = repository_in(&REPOSITORY_ANSWER).unwrap();
        assert_eq!((info.version, info.n_records, info.free_bytes), ((1, 5), 90, Some(0x1234)));
        assert_eq!(info.last_addition, Some(Timestamp::Date(0x5f00_0001)));
        assert_eq!(info.last_erase, None);
    }

    #[test]
    fn unspecified_space_is_not_a_lot_of_it() {
        let mut unspecified = REPOSITORY_ANSWER;
        (unspecified[4], unspecified[5]) = (0xff, 0xff);
        assert_eq!(repository_in(&unspecified).unwrap().free_bytes, None);
    }

    #[test]
    fn an_answer_of_a_repository_has_fourteen_bytes() {
        assert!(repository_in(&REPOSITORY_ANSWER[..14]).is_err());
        assert!(repository_in(&[&REPOSITORY_ANSWER[..], &[0]].concat()).is_err());
    }

    fn log_in(data: &[u8]) -> Result<EventLogInfo, Unanswered> {
        EventLogInfo::question().answered(0x0b, 0x40, data)
    }

    /// Five entries, never erased, and one that did not fit.
    const LOG_ANSWER: [u8; 15] =
        [0x00, 0x51, 0x05, 0x00, 0xb0, 0x3f, 0x9a, 0x02, 0x00, 0x5f, 0xff, 0xff, 0xff, 0xff, 0x82];

    #[test]
    fn a_log_tells_its_size_and_its_changes() {
        let info = log_in(&LOG_ANSWER).unwrap();
        assert_eq!((info.version, info.n_entries, info.free_bytes), ((1, 5), 5, 0x3fb0));
        assert_eq!(info.last_addition, Some(Timestamp::Date(0x5f00_029a)));
        assert_eq!(info.last_erase, None);
    }

    #[test]
    fn one_that_has_overflowed_says_so() {
        assert!(log_in(&LOG_ANSWER).unwrap().has_overflowed);
        let mut fits = LOG_ANSWER;
        fits[14] = 0x02;
        assert!(!log_in(&fits).unwrap().has_overflowed);
    }

    #[test]
    fn an_answer_of_a_log_has_fourteen_bytes() {
        assert!(log_in(&LOG_ANSWER[..14]).is_err());
        assert!(log_in(&[&LOG_ANSWER[..], &[0]].concat()).is_err());
    }
}
