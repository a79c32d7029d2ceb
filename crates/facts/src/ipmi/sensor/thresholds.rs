//! Get Sensor Thresholds: the values that a sensor should not pass.
//!
//! Source: IPMI 2.0, section 35.9. Masks of thresholds have their bits in the same order everywhere.

use super::SENSOR;
use crate::Expected;
use crate::ipmi::Question;
use std::fmt;

/// One of a sensor's six thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Threshold {
    /// Below it, a warning is due.
    LowerNonCritical,
    /// Below it, operation is at risk.
    LowerCritical,
    /// Below it, damage is likely.
    LowerNonRecoverable,
    /// Above it, a warning is due.
    UpperNonCritical,
    /// Above it, operation is at risk.
    UpperCritical,
    /// Above it, damage is likely.
    UpperNonRecoverable,
}

impl Threshold {
    /// All of them, in the order of their bits.
    pub const ALL: [Threshold; 6] = [
        Threshold::LowerNonCritical,
        Threshold::LowerCritical,
        Threshold::LowerNonRecoverable,
        Threshold::UpperNonCritical,
        Threshold::UpperCritical,
        Threshold::UpperNonRecoverable,
    ];
}

/// The specification's words.
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

/// Some of the six.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThresholdSet(u8);

impl ThresholdSet {
    /// None of them.
    pub const EMPTY: ThresholdSet = ThresholdSet(0);

    /// Parses a mask; its upper two bits are reserved.
    pub(super) fn parse(mask: u8) -> ThresholdSet {
        ThresholdSet(mask & 0x3f)
    }

    /// Whether this one is in it.
    pub fn contains(self, threshold: Threshold) -> bool {
        self.0 & (1 << threshold as u8) != 0
    }

    /// Whether none is in it.
    pub fn is_empty(self) -> bool {
        self == ThresholdSet::EMPTY
    }

    /// Those that are in it.
    pub fn iter(self) -> impl Iterator<Item = Threshold> {
        Threshold::ALL.into_iter().filter(move |it| self.contains(*it))
    }
}

/// The thresholds of a sensor, as bytes in the format of its readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds([Option<u8>; 6]);

impl Thresholds {
    /// Asks for those of sensor `number`.
    pub fn question(number: u8) -> Question<Thresholds> {
        let read = |_: &[u8], data: &[u8]| Thresholds::parse(data);
        let (name, data) = ("Get Sensor Thresholds", vec![number]);
        Question { name, function: SENSOR, command: 0x27, data, read }
    }

    /// One of them; none where the sensor does not have it, or does not tell.
    pub fn get(&self, threshold: Threshold) -> Option<u8> {
        self.0[threshold as usize]
    }

    /// The mask says which of the bytes behind it mean anything.
    fn parse(data: &[u8]) -> Result<Thresholds, Expected> {
        let [mask, values @ ..] = *<&[u8; 7]>::try_from(data)
            .map_err(|_| Expected("7 bytes behind the completion code"))?;
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
