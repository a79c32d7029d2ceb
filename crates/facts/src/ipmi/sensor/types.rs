//! The owner of a sensor, what the sensor monitors, and what kind of reading it has.
//!
//! Source: IPMI 2.0, section 43.1, bytes 6 and 7 of a record, for the owner (events name their source in the same
//! way, section 32.1); table 42-3 for the types of sensors, tables 42-1 and 42-2 for those of events and readings.

use std::fmt;

/// The owner of a sensor, or the source of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SensorOwner {
    /// An even number is an address on the bus between controllers (IPMB), an odd one identifies software.
    pub id: u8,
    /// The channel of the owner.
    pub channel: u8,
    /// The logical unit of the owner that has the sensor.
    pub lun: u8,
}

impl SensorOwner {
    /// The controller that the host talks to, at its fixed address (IPMB Address Allocation, version 1.0).
    pub const CONTROLLER: SensorOwner = SensorOwner { id: 0x20, channel: 0, lun: 0 };

    /// Parses the two bytes of the owner.
    pub(in crate::ipmi) fn parse([id, place]: [u8; 2]) -> SensorOwner {
        SensorOwner { id, channel: place >> 4, lun: place & 0x03 }
    }

    /// Whether it is this controller. Others are reached through it, by messages on another bus.
    pub fn is_controller(self) -> bool {
        SensorOwner { lun: 0, ..self } == SensorOwner::CONTROLLER
    }

    /// Whether it is software, such as the BIOS or an operating system.
    pub fn is_software(self) -> bool {
        self.id & 0x01 != 0
    }
}

/// What a sensor monitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SensorType(pub u8);

/// The kind of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadingType {
    /// Unspecified.
    Unspecified,
    /// Compared with thresholds; may be a number.
    Threshold,
    /// States that are common to sensors of all types; by number, 02h to 0Ch.
    Generic(u8),
    /// States that are specific to the type of the sensor.
    SensorSpecific,
    /// States that the manufacturer defines; by number.
    Oem(u8),
    /// A reserved number.
    Reserved(u8),
}

impl SensorType {
    /// Temperature sensors.
    pub const TEMPERATURE: SensorType = SensorType(0x01);
    /// Voltage sensors.
    pub const VOLTAGE: SensorType = SensorType(0x02);
    /// Sensors of current, and often of power.
    pub const CURRENT: SensorType = SensorType(0x03);
    /// Fan sensors.
    pub const FAN: SensorType = SensorType(0x04);

    /// The specification's name; `None` for reserved types and OEM types.
    pub fn name(self) -> Option<&'static str> {
        NAMES.get(usize::from(self.0)).copied().filter(|it| !it.is_empty())
    }
}

impl fmt::Display for SensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The first OEM type.
        const OEM: u8 = 0xc0;
        match self.name() {
            Some(name) => f.write_str(name),
            None if self.0 >= OEM => write!(f, "OEM type {:#04x}", self.0),
            None => write!(f, "type {:#04x}", self.0),
        }
    }
}

impl ReadingType {
    /// Parses its byte, without the direction of the event in bit 7.
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

/// The names by number; 0 is reserved.
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
    fn the_controller_owns_what_stands_at_its_address_on_its_channel() {
        assert!(SensorOwner::parse([0x20, 0x00]).is_controller());
        let on_another_unit = SensorOwner::parse([0x20, 0x01]);
        assert_eq!((on_another_unit.is_controller(), on_another_unit.lun), (true, 1));
    }

    #[test]
    fn satellites_and_software_are_not_the_controller() {
        let satellite = SensorOwner::parse([0x2c, 0x60]);
        assert_eq!((satellite.is_controller(), satellite.channel), (false, 6));
        let software = SensorOwner::parse([0x41, 0x00]);
        assert!(software.is_software() && !software.is_controller());
        assert!(!SensorOwner::parse([0x20, 0x60]).is_controller());
    }

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
