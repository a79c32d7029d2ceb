//! Get SEL Entry: one entry of the system event log, and the sensor event that it records.
//!
//! Source: IPMI 2.0, sections 31.5 (command), 32.1 (events of sensors), 32.2 and 32.3 (OEM entries), and 29.7 (the
//! three bytes of event data). Entries are read whole, so no reservation is needed.

use crate::Expected;
use crate::ipmi::sensor::{ReadingType, SensorOwner, SensorType, state};
use crate::ipmi::stores::STORAGE;
use crate::ipmi::{Question, Timestamp};
use std::fmt;

/// An entry, and the number of the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLogEntry {
    /// Its number; numbers need not ascend.
    pub id: u16,
    /// The number of the next entry; `None` for the last one.
    pub next: Option<u16>,
    /// The event or the data that it records.
    pub logged: Logged,
}

/// The content of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Logged {
    /// An event of a sensor.
    Event {
        /// When it happened.
        at: Option<Timestamp>,
        /// The event.
        event: SensorEvent,
    },
    /// A timestamped OEM entry.
    Oem {
        /// The record type, C0h to DFh.
        kind: u8,
        /// When it happened.
        at: Option<Timestamp>,
        /// The IANA enterprise number of the manufacturer.
        manufacturer: u32,
        /// The manufacturer's data.
        data: [u8; 6],
    },
    /// An entry without a timestamp, or of an unknown type.
    Other {
        /// The record type; E0h to FFh are OEM types, and Linux uses F0h for the text of a panic.
        kind: u8,
        /// The data.
        data: [u8; 13],
    },
}

impl EventLogEntry {
    /// The number that means the first entry.
    pub const FIRST: u16 = 0x0000;
    /// The number that means the last entry.
    pub const LAST: u16 = 0xffff;

    /// The question for an entry by its number.
    pub fn question(id: u16) -> Question<EventLogEntry> {
        /// The length that means the entire entry.
        const WHOLE: u8 = 0xff;
        let [low, high] = id.to_le_bytes();
        let read = |_: &[u8], data: &[u8]| EventLogEntry::parse(data);
        let (name, data) = ("Get SEL Entry", vec![0, 0, low, high, 0, WHOLE]);
        Question { name, function: STORAGE, command: 0x43, data, read }
    }

    /// Parses an entry that a controller sends by itself (section 22.6), without the number of the next one. Its
    /// number may differ from the one in the log.
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
        const ENTRY: Expected = Expected("18 bytes after the completion code");
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

/// An event of a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SensorEvent {
    /// The source of the event.
    pub source: SensorOwner,
    /// The version of the event format: 04h since IPMI 1.5.
    pub revision: u8,
    /// The type of the sensor.
    pub sensor_type: SensorType,
    /// The number of the sensor.
    pub number: u8,
    /// The type of the event.
    pub reading_type: ReadingType,
    /// Whether the state was asserted; otherwise it was deasserted.
    pub is_assertion: bool,
    /// The three bytes of event data: the state, and details of it.
    pub data: [u8; 3],
}

impl SensorEvent {
    /// Parses the bytes after the timestamp of an entry.
    pub(super) fn parse(bytes: [u8; 9]) -> SensorEvent {
        let [id, place, revision, sensor_type, number, reading, data @ ..] = bytes;
        SensorEvent {
            source: SensorOwner::parse([id, place]),
            revision,
            sensor_type: SensorType(sensor_type),
            number,
            reading_type: ReadingType::parse(reading),
            is_assertion: reading & 0x80 == 0,
            data,
        }
    }

    /// The number of the state (the offset of the event).
    pub fn offset(self) -> u8 {
        self.data[0] & 0x0f
    }

    /// The specification's name of the state; `None` where it has none.
    pub fn meaning(self) -> Option<&'static str> {
        state(self.reading_type, self.sensor_type, self.offset())
    }

    /// The raw reading that triggered the event of a sensor with thresholds, where the event has it.
    pub fn reading(self) -> Option<u8> {
        self.of_threshold(self.data[0] >> 6, self.data[1])
    }

    /// The raw threshold that was crossed, where the event has it.
    pub fn threshold(self) -> Option<u8> {
        self.of_threshold(self.data[0] >> 4 & 0x03, self.data[2])
    }

    /// The event in words; as bytes where the specification has no words for it.
    pub fn what(self) -> String {
        let words = match self.meaning() {
            Some(words) => words.to_owned(),
            None => {
                let ([one, two, three], reading) = (self.data, self.reading_type.number());
                format!("event type {reading:#04x}, data {one:02x} {two:02x} {three:02x}")
            }
        };
        if self.is_assertion { words } else { format!("{words} (deasserted)") }
    }

    /// Data bytes 2 and 3 are flagged in the same way.
    fn of_threshold(self, meaning: u8, byte: u8) -> Option<u8> {
        /// The flag of a byte that is a reading or a threshold.
        const IS_READING: u8 = 1;
        (self.reading_type == ReadingType::Threshold && meaning == IS_READING).then_some(byte)
    }
}

/// With the type and the number of the sensor: only its record has its name.
impl fmt::Display for SensorEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:#04x}: {}", self.sensor_type, self.number, self.what())
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

    /// An event of the controller: type and number of the sensor, type of reading with direction, data.
    fn event(sensor_type: u8, number: u8, reading: u8, data: [u8; 3]) -> SensorEvent {
        let [one, two, three] = data;
        let head = [0x20, 0x00, 0x04, sensor_type, number, reading];
        let [id, place, revision, sensor_type, number, reading] = head;
        SensorEvent::parse([id, place, revision, sensor_type, number, reading, one, two, three])
    }

    #[test]
    fn events_have_the_specifications_words() {
        let texts = [
            event(0x01, 0x30, 0x01, [0x57, 0x60, 0x5f]),
            event(0x08, 0x85, 0x6f, [0x03, 0xff, 0xff]),
            event(0x0c, 0x02, 0xef, [0xa1, 0x00, 0x10]),
            event(0x09, 0x01, 0x0b, [0x01, 0xff, 0xff]),
        ]
        .map(|it| it.to_string());
        let expected = [
            "Temperature 0x30: Upper Non-critical going high",
            "Power Supply 0x85: Power Supply input lost (AC/DC)",
            "Memory 0x02: Uncorrectable ECC (deasserted)",
            "Power Unit 0x01: Redundancy Lost",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn what_nobody_but_the_maker_knows_is_told_by_its_bytes() {
        let texts = [
            event(0xd0, 0x01, 0x70, [0xa3, 0x02, 0xff]),
            event(0x07, 0x60, 0xef, [0x0d, 0xff, 0xff]),
        ]
        .map(|it| it.to_string());
        let expected = [
            "OEM type 0xd0 0x01: event type 0x70, data a3 02 ff",
            "Processor 0x60: event type 0x6f, data 0d ff ff (deasserted)",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn an_event_of_a_threshold_may_say_what_was_read_and_what_was_passed() {
        let both = event(0x01, 0x30, 0x01, [0x57, 0x60, 0x5f]);
        assert_eq!((both.reading(), both.threshold()), (Some(0x60), Some(0x5f)));
        let neither = event(0x01, 0x30, 0x01, [0x07, 0x60, 0x5f]);
        assert_eq!((neither.reading(), neither.threshold()), (None, None));
        let other = event(0x0c, 0x02, 0x6f, [0x51, 0x60, 0x5f]);
        assert_eq!((other.reading(), other.threshold()), (None, None));
    }

    #[test]
    fn an_event_of_the_bios_is_not_the_controllers() {
        let bytes = [0x31, 0x00, 0x04, 0x0f, 0x00, 0x6f, 0x00, 0x01, 0xff];
        let event = SensorEvent::parse(bytes);
        assert!(event.source.is_software() && !event.source.is_controller());
        let text = "System Firmware Progress 0x00: System Firmware Error (POST Error)";
        assert_eq!(event.to_string(), text);
    }
}
