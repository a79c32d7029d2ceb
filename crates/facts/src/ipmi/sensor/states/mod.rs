//! What the numbered states of a sensor, and the events about them, are called.
//!
//! Source: IPMI 2.0, tables 42-2 and 42-3, without the explanations in brackets. States of makers' own are not known
//! here.

mod generic;
mod specific;

use super::{ReadingType, SensorType};

/// The specification's words for a state; none where it has none.
pub(in crate::ipmi) fn state(
    reading: ReadingType,
    sensor: SensorType,
    offset: u8,
) -> Option<&'static str> {
    let (lists, number) = match reading {
        ReadingType::Threshold | ReadingType::Generic(_) => (generic::STATES, reading.number()),
        ReadingType::SensorSpecific => (specific::STATES, sensor.0),
        ReadingType::Unspecified | ReadingType::Oem(_) | ReadingType::Reserved(_) => return None,
    };
    let (_, states) = lists.iter().find(|(of, _)| *of == number)?;
    states.get(usize::from(offset)).copied().filter(|it| !it.is_empty())
}

/// States of one type, by number; those that are reserved are empty.
type List = (u8, &'static [&'static str]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_in_the_order_of_their_types() {
        for lists in [generic::STATES, specific::STATES] {
            assert!(lists.is_sorted_by(|one, other| one.0 < other.0));
            assert!(lists.iter().all(|(_, states)| states.len() <= 15));
        }
    }

    #[test]
    fn states_that_all_sensors_may_have_go_by_the_type_of_reading() {
        let state = |reading, offset| state(ReadingType::parse(reading), SensorType(0x08), offset);
        assert_eq!(state(0x01, 0x09), Some("Upper Critical going high"));
        assert_eq!(state(0x03, 0x01), Some("State Asserted"));
        assert_eq!(state(0x0b, 0x01), Some("Redundancy Lost"));
        assert_eq!(state(0x0c, 0x03), Some("D3 Power State"));
    }

    #[test]
    fn states_of_a_sensors_own_go_by_its_type() {
        let state = |sensor, offset| state(ReadingType::SensorSpecific, SensorType(sensor), offset);
        assert_eq!(state(0x07, 0x01), Some("Thermal Trip"));
        assert_eq!(state(0x08, 0x03), Some("Power Supply input lost (AC/DC)"));
        assert_eq!(state(0x0c, 0x05), Some("Correctable ECC logging limit reached"));
        assert_eq!(state(0x23, 0x08), Some("Timer interrupt"));
        assert_eq!(state(0x2c, 0x07), Some("FRU Communication Lost"));
    }

    #[test]
    fn what_is_reserved_or_a_makers_own_has_no_words() {
        assert_eq!(state(ReadingType::SensorSpecific, SensorType(0x23), 4), None);
        assert_eq!(state(ReadingType::SensorSpecific, SensorType(0x01), 0), None);
        assert_eq!(state(ReadingType::SensorSpecific, SensorType(0xc0), 0), None);
        assert_eq!(state(ReadingType::Oem(0x70), SensorType(0x07), 0), None);
        assert_eq!(state(ReadingType::Threshold, SensorType(0x01), 12), None);
        assert_eq!(state(ReadingType::Unspecified, SensorType(0x01), 0), None);
    }
}
