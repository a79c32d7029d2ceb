//! The names of the states of a sensor, and of the events about them.
//!
//! Source: IPMI 2.0, tables 42-2 and 42-3, without the explanations in brackets. States that a manufacturer defines
//! are not known here.

mod specific;

use super::{ReadingType, SensorType};

/// The specification's name of a state; `None` where it has none.
pub(in crate::ipmi) fn state(
    reading: ReadingType,
    sensor: SensorType,
    offset: u8,
) -> Option<&'static str> {
    let (lists, number) = match reading {
        ReadingType::Threshold | ReadingType::Generic(_) => (GENERIC, reading.number()),
        ReadingType::SensorSpecific => (specific::STATES, sensor.0),
        ReadingType::Unspecified | ReadingType::Oem(_) | ReadingType::Reserved(_) => return None,
    };
    let (_, states) = lists.iter().find(|(of, _)| *of == number)?;
    states.get(usize::from(offset)).copied().filter(|it| !it.is_empty())
}

/// The states of one type, by number; reserved ones are empty.
type List = (u8, &'static [&'static str]);

/// States that are common to sensors of all types, by ascending type of reading (table 42-2).
const GENERIC: &[List] = &[
    (
        0x01,
        &[
            "Lower Non-critical going low",
            "Lower Non-critical going high",
            "Lower Critical going low",
            "Lower Critical going high",
            "Lower Non-recoverable going low",
            "Lower Non-recoverable going high",
            "Upper Non-critical going low",
            "Upper Non-critical going high",
            "Upper Critical going low",
            "Upper Critical going high",
            "Upper Non-recoverable going low",
            "Upper Non-recoverable going high",
        ],
    ),
    (0x02, &["Transition to Idle", "Transition to Active", "Transition to Busy"]),
    (0x03, &["State Deasserted", "State Asserted"]),
    (0x04, &["Predictive Failure deasserted", "Predictive Failure asserted"]),
    (0x05, &["Limit Not Exceeded", "Limit Exceeded"]),
    (0x06, &["Performance Met", "Performance Lags"]),
    (
        0x07,
        &[
            "transition to OK",
            "transition to Non-Critical from OK",
            "transition to Critical from less severe",
            "transition to Non-recoverable from less severe",
            "transition to Non-Critical from more severe",
            "transition to Critical from Non-recoverable",
            "transition to Non-recoverable",
            "Monitor",
            "Informational",
        ],
    ),
    (0x08, &["Device Removed / Device Absent", "Device Inserted / Device Present"]),
    (0x09, &["Device Disabled", "Device Enabled"]),
    (
        0x0a,
        &[
            "transition to Running",
            "transition to In Test",
            "transition to Power Off",
            "transition to On Line",
            "transition to Off Line",
            "transition to Off Duty",
            "transition to Degraded",
            "transition to Power Save",
            "Install Error",
        ],
    ),
    (
        0x0b,
        &[
            "Fully Redundant",
            "Redundancy Lost",
            "Redundancy Degraded",
            "Non-redundant: Sufficient Resources from Redundant",
            "Non-redundant: Sufficient Resources from Insufficient Resources",
            "Non-redundant: Insufficient Resources",
            "Redundancy Degraded from Fully Redundant",
            "Redundancy Degraded from Non-redundant",
        ],
    ),
    (0x0c, &["D0 Power State", "D1 Power State", "D2 Power State", "D3 Power State"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_in_the_order_of_their_types() {
        for lists in [GENERIC, specific::STATES] {
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
