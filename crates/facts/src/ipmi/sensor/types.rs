//! What a sensor looks at, and what kind of thing it reads.
//!
//! Source: IPMI 2.0, section 42: table 42-3 for the types of sensors, tables 42-1 and 42-2 for those of events and
//! readings.

use std::fmt;

/// What a sensor looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SensorType(pub u8);

/// What kind of thing a sensor reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadingType {
    /// It is not told.
    Unspecified,
    /// It is compared with thresholds, and may be a number.
    Threshold,
    /// States that sensors of all types have; by number, 02h to 0Ch.
    Generic(u8),
    /// States that sensors of its type have.
    SensorSpecific,
    /// States that its maker knows; by number.
    Oem(u8),
    /// A number that stands for nothing.
    Reserved(u8),
}

impl SensorType {
    /// The type of sensors that read temperatures.
    pub const TEMPERATURE: SensorType = SensorType(0x01);
    /// The type of sensors that read voltages.
    pub const VOLTAGE: SensorType = SensorType(0x02);
    /// The type of sensors that read currents, and often powers.
    pub const CURRENT: SensorType = SensorType(0x03);
    /// The type of sensors that look at fans.
    pub const FAN: SensorType = SensorType(0x04);

    /// The specification's word for it; none for reserved types and those of makers.
    pub fn name(self) -> Option<&'static str> {
        NAMES.get(usize::from(self.0)).copied().filter(|it| !it.is_empty())
    }
}

impl fmt::Display for SensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The first of the types that makers give out.
        const OEM: u8 = 0xc0;
        match self.name() {
            Some(name) => f.write_str(name),
            None if self.0 >= OEM => write!(f, "OEM type {:#04x}", self.0),
            None => write!(f, "type {:#04x}", self.0),
        }
    }
}

impl ReadingType {
    /// Parses its byte; the topmost bit is no part of it.
    pub(in crate::ipmi) fn parse(byte: u8) -> ReadingType {
        match byte & 0x7f {
            0x00 => ReadingType::Unspecified,
            0x01 => ReadingType::Threshold,
            number @ 0x02..=0x0c => ReadingType::Generic(number),
            0x6f => ReadingType::SensorSpecific,
            number @ 0x70..=0x7f => ReadingType::Oem(number),
            number => ReadingType::Reserved(number),
        }
    }

    /// Its number.
    pub fn number(self) -> u8 {
        match self {
            ReadingType::Unspecified => 0x00,
            ReadingType::Threshold => 0x01,
            ReadingType::SensorSpecific => 0x6f,
            ReadingType::Generic(number)
            | ReadingType::Oem(number)
            | ReadingType::Reserved(number) => number,
        }
    }
}

/// By number; the first one is reserved.
const NAMES: [&str; 0x2d] = [
    "",
    "Temperature",
    "Voltage",
    "Current",
    "Fan",
    "Physical Security",
    "Platform Security Violation Attempt",
    "Processor",
    "Power Supply",
    "Power Unit",
    "Cooling Device",
    "Other Units-based Sensor",
    "Memory",
    "Drive Slot",
    "POST Memory Resize",
    "System Firmware Progress",
    "Event Logging Disabled",
    "Watchdog 1",
    "System Event",
    "Critical Interrupt",
    "Button/Switch",
    "Module/Board",
    "Microcontroller/Coprocessor",
    "Add-in Card",
    "Chassis",
    "Chip Set",
    "Other FRU",
    "Cable/Interconnect",
    "Terminator",
    "System Boot Initiated",
    "Boot Error",
    "OS Boot",
    "OS Stop/Shutdown",
    "Slot/Connector",
    "System ACPI Power State",
    "Watchdog 2",
    "Platform Alert",
    "Entity Presence",
    "Monitor ASIC/IC",
    "LAN",
    "Management Subsystem Health",
    "Battery",
    "Session Audit",
    "Version Change",
    "FRU State",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_names_at_their_numbers() {
        let texts =
            [0x01, 0x07, 0x0c, 0x13, 0x1d, 0x23, 0x29, 0x2c].map(|it| SensorType(it).to_string());
        let expected = [
            "Temperature",
            "Processor",
            "Memory",
            "Critical Interrupt",
            "System Boot Initiated",
            "Watchdog 2",
            "Battery",
            "FRU State",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn types_without_a_name_are_told_by_their_numbers() {
        let texts = [0x00, 0x2d, 0xc0].map(|it| SensorType(it).to_string());
        assert_eq!(texts, ["type 0x00", "type 0x2d", "OEM type 0xc0"]);
    }

    #[test]
    fn every_number_of_a_reading_type_comes_back() {
        for byte in 0..=0x7f {
            assert_eq!(ReadingType::parse(byte).number(), byte);
            assert_eq!(ReadingType::parse(byte | 0x80), ReadingType::parse(byte));
        }
        let kinds = [0x0b, 0x0d, 0x6f, 0x70].map(ReadingType::parse);
        let expected = [
            ReadingType::Generic(0x0b),
            ReadingType::Reserved(0x0d),
            ReadingType::SensorSpecific,
            ReadingType::Oem(0x70),
        ];
        assert_eq!(kinds, expected);
    }
}
