//! Get Sensor Reading: what a sensor reads at the moment.
//!
//! Source: IPMI 2.0, section 35.14. The states mean one thing for a sensor with thresholds, and another for one that
//! has only states: the record says which it is.

use super::{SENSOR, ThresholdSet};
use crate::Expected;
use crate::ipmi::Question;

/// What a sensor reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The byte of a sensor that reads numbers; of no meaning for others.
    pub raw: u8,
    /// Whether the sensor may send events.
    pub sends_events: bool,
    /// Whether the controller reads the sensor at all.
    pub is_scanned: bool,
    /// Whether there is a reading: there is none while a sensor is starting, and where what it looks at is absent.
    pub is_available: bool,
    /// The states; none where the controller does not give any.
    pub states: Option<States>,
}

/// The states of a sensor, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States(u16);

impl Reading {
    /// Asks for that of sensor `number`.
    pub fn question(number: u8) -> Question<Reading> {
        let read = |_: &[u8], data: &[u8]| Reading::parse(data);
        let (name, data) = ("Get Sensor Reading", vec![number]);
        Question { name, function: SENSOR, command: 0x2d, data, read }
    }

    /// The byte, where it is a reading.
    pub fn current(&self) -> Option<u8> {
        (self.is_scanned && self.is_available).then_some(self.raw)
    }

    /// The states, where there is a reading.
    pub fn told(&self) -> Option<States> {
        self.states.filter(|_| self.current().is_some())
    }

    /// The bytes of states may be left out, both or the second one.
    fn parse(data: &[u8]) -> Result<Reading, Expected> {
        let (raw, flags, states) = match *data {
            [raw, flags] => (raw, flags, None),
            [raw, flags, low] => (raw, flags, Some(States::parse([low, 0]))),
            [raw, flags, low, high] => (raw, flags, Some(States::parse([low, high]))),
            _ => return Err(Expected("2 to 4 bytes behind the completion code")),
        };
        Ok(Reading {
            raw,
            sends_events: flags & 0x80 != 0,
            is_scanned: flags & 0x40 != 0,
            is_available: flags & 0x20 == 0,
            states,
        })
    }
}

impl States {
    /// The topmost bit is reserved, and set.
    fn parse(bytes: [u8; 2]) -> States {
        States(u16::from_le_bytes(bytes) & 0x7fff)
    }

    /// The numbers of the states that are there, of a sensor that has states.
    pub fn offsets(self) -> impl Iterator<Item = u8> {
        (0..15).filter(move |offset| self.0 & (1_u16 << *offset) != 0)
    }

    /// The thresholds that are passed, of a sensor that has thresholds.
    pub fn thresholds(self) -> ThresholdSet {
        let [low, _] = self.0.to_le_bytes();
        ThresholdSet::parse(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipmi::{Threshold, Unanswered};

    fn answered(data: &[u8]) -> Result<Reading, Unanswered> {
        Reading::question(0x30).answered(0x05, 0x2d, data)
    }

    #[test]
    fn a_reading_of_a_sensor_with_thresholds_says_which_are_passed() {
        let reading = answered(&[0x00, 0x60, 0xc0, 0xd8]).unwrap();
        assert_eq!((reading.current(), reading.sends_events), (Some(0x60), true));
        let passed: Vec<Threshold> = reading.states.unwrap().thresholds().iter().collect();
        assert_eq!(passed, [Threshold::UpperNonCritical, Threshold::UpperCritical]);
        assert_eq!(Reading::question(0x30).data, [0x30]);
    }

    #[test]
    fn states_are_numbered_from_the_lowest_bit() {
        let offsets = |data: &[u8]| {
            let states = answered(data).unwrap().states.unwrap();
            states.offsets().collect::<Vec<u8>>()
        };
        assert_eq!(offsets(&[0x00, 0x00, 0xc0, 0x81, 0x80]), [0, 7]);
        assert_eq!(offsets(&[0x00, 0x00, 0xc0, 0x00, 0x41]), [8, 14]);
        assert_eq!(offsets(&[0x00, 0x00, 0xc0, 0x02]), [1]);
    }

    #[test]
    fn a_controller_that_tells_no_states_is_not_one_without() {
        assert_eq!(answered(&[0x00, 0x17, 0x40]).unwrap().states, None);
        assert_eq!(answered(&[0x00, 0x17, 0x40, 0x00]).unwrap().states, Some(States(0)));
    }

    #[test]
    fn a_byte_that_is_no_reading_is_not_taken_for_one() {
        let starting = answered(&[0x00, 0x17, 0xe0, 0xc0]).unwrap();
        assert_eq!((starting.is_scanned, starting.is_available), (true, false));
        let disabled = answered(&[0x00, 0x17, 0x80, 0xc0]).unwrap();
        assert_eq!((disabled.is_scanned, disabled.is_available), (false, true));
        assert_eq!((starting.current(), disabled.current()), (None, None));
    }

    #[test]
    fn an_answer_has_two_to_four_bytes() {
        assert!(answered(&[0x00]).is_err() && answered(&[0x00, 0x17]).is_err());
        assert!(answered(&[0x00, 0x17, 0xc0, 0x00, 0x80, 0x00]).is_err());
    }
}
