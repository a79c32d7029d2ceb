//! Get SEL Entry: one entry of the log.
//!
//! Source: IPMI 2.0, sections 31.5 (command), 32.1 (events of sensors), 32.2 and 32.3 (entries of makers' own). Entries
//! are asked for whole, which needs no reservation.

use super::{STORAGE, SensorEvent};
use crate::Expected;
use crate::ipmi::{Question, Timestamp};

/// An entry, and which one comes after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLogEntry {
    /// Its number; entries need not come in the order of theirs.
    pub id: u16,
    /// The number of the entry after it; `None` behind the last one.
    pub next: Option<u16>,
    /// What was logged.
    pub logged: Logged,
}

/// What an entry tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Logged {
    /// Something that happened to a sensor.
    Event {
        /// When.
        at: Option<Timestamp>,
        /// What.
        event: SensorEvent,
    },
    /// Something that only the maker knows.
    Oem {
        /// The kind of the entry, C0h to DFh.
        kind: u8,
        /// When.
        at: Option<Timestamp>,
        /// The maker's number, as IANA gives them out.
        manufacturer: u32,
        /// The maker's bytes.
        data: [u8; 6],
    },
    /// Something without a time, or of a kind that is not known.
    Other {
        /// The kind of the entry; makers have E0h to FFh, and Linux F0h for the text of a panic.
        kind: u8,
        /// Its bytes.
        data: [u8; 13],
    },
}

impl EventLogEntry {
    /// The number that stands for the first entry.
    pub const FIRST: u16 = 0x0000;
    /// The number that stands for the last entry.
    pub const LAST: u16 = 0xffff;

    /// Asks for an entry by its number.
    pub fn question(id: u16) -> Question<EventLogEntry> {
        /// The number of bytes that stands for the entire entry.
        const WHOLE: u8 = 0xff;
        let [low, high] = id.to_le_bytes();
        let read = |_: &[u8], data: &[u8]| EventLogEntry::parse(data);
        let (name, data) = ("Get SEL Entry", vec![0, 0, low, high, 0, WHOLE]);
        Question { name, function: STORAGE, command: 0x43, data, read }
    }

    /// Parses an entry that a controller sends by itself, without the number of the one after it (section 22.6): its number
    /// need not be that which it has in the log.
    pub fn parse_sent(data: &[u8]) -> Result<EventLogEntry, Expected> {
        let Ok([i0, i1, kind, data @ ..]) = <[u8; 16]>::try_from(data) else {
            return Err(Expected("an entry of 16 bytes"));
        };
        Ok(EventLogEntry {
            id: u16::from_le_bytes([i0, i1]),
            next: None,
            logged: Logged::parse(kind, data),
        })
    }

    fn parse(data: &[u8]) -> Result<EventLogEntry, Expected> {
        const ENTRY: Expected = Expected("18 bytes behind the completion code");
        let ([low, high], entry) = data.split_first_chunk::<2>().ok_or(ENTRY)?;
        let next = Some(u16::from_le_bytes([*low, *high])).filter(|it| *it != EventLogEntry::LAST);
        let entry = EventLogEntry::parse_sent(entry).map_err(|_| ENTRY)?;
        Ok(EventLogEntry { next, ..entry })
    }
}

impl Logged {
    fn parse(kind: u8, data: [u8; 13]) -> Logged {
        let [t0, t1, t2, t3, rest @ ..] = data;
        let at = Timestamp::parse([t0, t1, t2, t3]);
        match kind {
            0x02 => Logged::Event { at, event: SensorEvent::parse(rest) },
            0xc0..=0xdf => {
                let [m0, m1, m2, data @ ..] = rest;
                let manufacturer = u32::from_le_bytes([m0, m1, m2, 0]);
                Logged::Oem { kind, at, manufacturer, data }
            }
            _ => Logged::Other { kind, data },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipmi::Unanswered;

    /// The answer with an entry of this kind.
    fn answered(kind: u8, data: [u8; 13]) -> Result<EventLogEntry, Unanswered> {
        let head = [0x00, 0x03, 0x00, 0x02, 0x00, kind];
        EventLogEntry::question(2).answered(0x0b, 0x43, &[&head[..], &data].concat())
    }

    const TEMPERATURE: [u8; 13] =
        [0x9a, 0x02, 0x00, 0x5f, 0x20, 0x00, 0x04, 0x01, 0x04, 0x01, 0x59, 0xb0, 0xaf];

    #[test]
    fn an_event_has_a_time_and_a_sensor() {
        let entry = answered(0x02, TEMPERATURE).unwrap();
        assert_eq!((entry.id, entry.next), (2, Some(3)));
        let Logged::Event { at, event } = entry.logged else { panic!("no event") };
        assert_eq!(at, Some(Timestamp::Date(0x5f00_029a)));
        assert_eq!(event.to_string(), "Temperature 0x04: Upper Critical going high");
    }

    #[test]
    fn a_makers_entry_keeps_its_bytes() {
        let data = [1, 0, 0, 0x60, 0xa2, 0x02, 0x00, 1, 2, 3, 4, 5, 6];
        let oem = Logged::Oem {
            kind: 0xdd,
            at: Some(Timestamp::Date(0x6000_0001)),
            manufacturer: 674,
            data: [1, 2, 3, 4, 5, 6],
        };
        assert_eq!(answered(0xdd, data).unwrap().logged, oem);
        for kind in [0x00, 0x03, 0xbf, 0xe0, 0xf0, 0xff] {
            assert_eq!(answered(kind, data).unwrap().logged, Logged::Other { kind, data });
        }
    }

    #[test]
    fn no_entry_comes_after_the_last_one() {
        let answer = [&[0x00, 0xff, 0xff, 9, 0, 0x02][..], &TEMPERATURE].concat();
        let entry = EventLogEntry::question(9).answered(0x0b, 0x43, &answer).unwrap();
        assert_eq!((entry.id, entry.next), (9, None));
    }

    #[test]
    fn an_entry_is_asked_for_whole_and_without_a_reservation() {
        let data = EventLogEntry::question(0x0102).data;
        assert_eq!(data, [0x00, 0x00, 0x02, 0x01, 0x00, 0xff]);
    }

    #[test]
    fn an_answer_has_eighteen_bytes() {
        for length in [0, 2, 17, 19] {
            let answer = [&[0][..], &vec![2; length]].concat();
            let answered = EventLogEntry::question(0).answered(0x0b, 0x43, &answer);
            assert!(answered.is_err(), "{length}");
        }
    }
}
