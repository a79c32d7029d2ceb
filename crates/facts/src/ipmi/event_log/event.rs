//! An event of a sensor, in words.
//!
//! Source: IPMI 2.0, section 32.1, and section 29.7 for the three bytes of data.

use crate::ipmi::sensor::{ReadingType, SensorOwner, SensorType, state};
use std::fmt;

/// What happened to a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SensorEvent {
    /// Who has told of it.
    pub source: SensorOwner,
    /// The version of the event's format: 04h since IPMI 1.5.
    pub revision: u8,
    /// What the sensor looks at.
    pub sensor_type: SensorType,
    /// The sensor's number.
    pub number: u8,
    /// What kind of thing the event is about.
    pub reading_type: ReadingType,
    /// Whether it has begun; else it has ended.
    pub is_assertion: bool,
    /// What has begun or ended, and what the event says of it besides.
    pub data: [u8; 3],
}

impl SensorEvent {
    /// Parses what stands behind an entry's time.
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

    /// The number of the state.
    pub fn offset(self) -> u8 {
        self.data[0] & 0x0f
    }

    /// The specification's words for the state; none where it has none.
    pub fn words(self) -> Option<&'static str> {
        state(self.reading_type, self.sensor_type, self.offset())
    }

    /// What a sensor with thresholds has read, as the byte of a reading, where the event says so.
    pub fn reading(self) -> Option<u8> {
        self.of_threshold(self.data[0] >> 6, self.data[1])
    }

    /// The threshold that it has passed, as the byte of a reading, where the event says so.
    pub fn threshold(self) -> Option<u8> {
        self.of_threshold(self.data[0] >> 4 & 0x03, self.data[2])
    }

    /// What has happened; what has no words is told by its bytes.
    pub fn what(self) -> String {
        let words = match self.words() {
            Some(words) => words.to_owned(),
            None => {
                let ([one, two, three], reading) = (self.data, self.reading_type.number());
                format!("event type {reading:#04x}, data {one:02x} {two:02x} {three:02x}")
            }
        };
        if self.is_assertion { words } else { format!("{words} (deasserted)") }
    }

    /// Both are told in the same way.
    fn of_threshold(self, meaning: u8, byte: u8) -> Option<u8> {
        /// The number that says what a byte is.
        const IS_READING: u8 = 1;
        (self.reading_type == ReadingType::Threshold && meaning == IS_READING).then_some(byte)
    }
}

/// With the type and the number of the sensor, whose name only its record has.
impl fmt::Display for SensorEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:#04x}: {}", self.sensor_type, self.number, self.what())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
