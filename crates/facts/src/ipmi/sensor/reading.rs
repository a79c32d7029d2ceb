//! Get Sensor Reading and Get Sensor Thresholds: what a sensor reads now, and the values that it should not pass.
//!
//! Source: IPMI 2.0, sections 35.14 and 35.9. The states mean thresholds for a sensor with thresholds, and discrete
//! states for the others: the record says which. Masks of thresholds have the same order of bits everywhere.

use super::SENSOR;
use crate::Expected;
use crate::ipmi::Question;
use std::fmt;

/// The reading of a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The raw reading; meaningless for a sensor without numeric readings.
    pub raw: u8,
    /// Whether the sensor may send events.
    pub sends_events: bool,
    /// Whether the controller scans the sensor.
    pub is_scanned: bool,
    /// Whether the reading is valid: it is not while a sensor initialises, or where the monitored part is absent.
    pub is_available: bool,
    /// The states; `None` where the controller reports none.
    pub states: Option<States>,
}

/// The states of a sensor, as a bit mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States(u16);

impl Reading {
    /// The question for the reading of sensor `number`.
    pub fn question(number: u8) -> Question<Reading> {
        let read = |_: &[u8], data: &[u8]| Reading::parse(data);
        let (name, data) = ("Get Sensor Reading", vec![number]);
        Question { name, function: SENSOR, command: 0x2d, data, read }
    }

    /// The raw reading, where it is valid.
    pub fn current(&self) -> Option<u8> {
        (self.is_scanned && self.is_available).then_some(self.raw)
    }

    /// The states, where the reading is valid.
    pub fn valid_states(&self) -> Option<States> {
        self.states.filter(|_| self.current().is_some())
    }

    /// Controllers may leave out both bytes of states, or the second one.
    fn parse(data: &[u8]) -> Result<Reading, Expected> {
        let (raw, flags, states) = match *data {
            [raw, flags] => (raw, flags, None),
            [raw, flags, low] => (raw, flags, Some(States::parse([low, 0]))),
            [raw, flags, low, high] => (raw, flags, Some(States::parse([low, high]))),
            _ => return Err(Expected("2 to 4 bytes after the completion code")),
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
    /// Bit 15 is reserved, and set.
    fn parse(bytes: [u8; 2]) -> States {
        States(u16::from_le_bytes(bytes) & 0x7fff)
    }

    /// The numbers of the current states, for a discrete sensor.
    pub fn offsets(self) -> impl Iterator<Item = u8> {
        (0..15).filter(move |offset| self.0 & (1_u16 << *offset) != 0)
    }

    /// The thresholds that the reading has crossed, for a sensor with thresholds.
    pub fn thresholds(self) -> ThresholdSet {
        let [low, _] = self.0.to_le_bytes();
        ThresholdSet::parse(low)
    }
}

/// One of the six thresholds of a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Threshold {
    /// Below it: warning.
    LowerNonCritical,
    /// Below it: operation is at risk.
    LowerCritical,
    /// Below it: damage is likely.
    LowerNonRecoverable,
    /// Above it: warning.
    UpperNonCritical,
    /// Above it: operation is at risk.
    UpperCritical,
    /// Above it: damage is likely.
    UpperNonRecoverable,
}

impl Threshold {
    /// All thresholds, in the order of their bits.
    pub const ALL: [Threshold; 6] = [
        Threshold::LowerNonCritical,
        Threshold::LowerCritical,
        Threshold::LowerNonRecoverable,
        Threshold::UpperNonCritical,
        Threshold::UpperCritical,
        Threshold::UpperNonRecoverable,
    ];
}

/// The specification's names.
impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Threshold::LowerNonCritical => "Lower Non-critical",
            Threshold::LowerCritical => "Lower Critical",
            Threshold::LowerNonRecoverable => "Lower Non-recoverable",
            Threshold::UpperNonCritical => "Upper Non-critical",
            Threshold::UpperCritical => "Upper Critical",
            Threshold::UpperNonRecoverable => "Upper Non-recoverable",
        })
    }
}

/// A set of thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThresholdSet(u8);

impl ThresholdSet {
    /// The empty set.
    pub const EMPTY: ThresholdSet = ThresholdSet(0);

    /// Parses a mask; bits 7:6 are reserved.
    pub(super) fn parse(mask: u8) -> ThresholdSet {
        ThresholdSet(mask & 0x3f)
    }

    /// Whether the set contains this threshold.
    pub fn contains(self, threshold: Threshold) -> bool {
        self.0 & (1 << threshold as u8) != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self == ThresholdSet::EMPTY
    }

    /// The thresholds in the set.
    pub fn iter(self) -> impl Iterator<Item = Threshold> {
        Threshold::ALL.into_iter().filter(move |it| self.contains(*it))
    }
}

/// The threshold values of a sensor, as raw readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds([Option<u8>; 6]);

impl Thresholds {
    /// The question for the thresholds of sensor `number`.
    pub fn question(number: u8) -> Question<Thresholds> {
        let read = |_: &[u8], data: &[u8]| Thresholds::parse(data);
        let (name, data) = ("Get Sensor Thresholds", vec![number]);
        Question { name, function: SENSOR, command: 0x27, data, read }
    }

    /// One threshold; `None` where the sensor does not have it, or does not report it.
    pub fn get(&self, threshold: Threshold) -> Option<u8> {
        self.0[threshold as usize]
    }

    /// The mask says which of the bytes after it are valid.
    fn parse(data: &[u8]) -> Result<Thresholds, Expected> {
        let [mask, values @ ..] = *<&[u8; 7]>::try_from(data)
            .map_err(|_| Expected("7 bytes after the completion code"))?;
        let readable = ThresholdSet::parse(mask);
        Ok(Thresholds(
            Threshold::ALL.map(|threshold| {
                readable.contains(threshold).then_some(values[threshold as usize])
            }),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipmi::Unanswered;

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

    #[test]
    fn a_set_has_the_thresholds_of_its_bits() {
        let texts = |mask| {
            let set = ThresholdSet::parse(mask);
            set.iter().map(|it| it.to_string()).collect::<Vec<String>>().join(", ")
        };
        assert_eq!(texts(0xc3), "Lower Non-critical, Lower Critical");
        assert_eq!(texts(0x24), "Lower Non-recoverable, Upper Non-recoverable");
        assert!(ThresholdSet::parse(0xc0).is_empty());
    }

    #[test]
    fn a_threshold_that_cannot_be_read_is_none_whatever_its_byte() {
        // Those of Dell's inlet temperature sensor: 3, -7, 42 and 47 degrees.
        let answer = [0x00, 0x1b, 0x83, 0x79, 0x00, 0xaa, 0xaf, 0xff];
        let thresholds = Thresholds::question(4).answered(0x05, 0x27, &answer).unwrap();
        let values = Threshold::ALL.map(|it| thresholds.get(it));
        assert_eq!(values, [Some(0x83), Some(0x79), None, Some(0xaa), Some(0xaf), None]);
        assert_eq!(Thresholds::question(4).data, [4]);
    }

    #[test]
    fn an_answer_has_seven_bytes() {
        for length in [0, 1, 6, 8] {
            let answer = [&[0][..], &vec![0x3f; length]].concat();
            assert!(Thresholds::question(4).answered(0x05, 0x27, &answer).is_err(), "{length}");
        }
    }
}
