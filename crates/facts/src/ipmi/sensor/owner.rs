//! Who has a sensor, and is to be asked for it.
//!
//! Source: IPMI 2.0, section 43.1, bytes 6 and 7 of a record; events name their source in the same way (section 32.1).

/// Who has a sensor, or has sent an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SensorOwner {
    /// The address on the bus between controllers, an even number, or the number of a piece of software, an odd one.
    pub id: u8,
    /// The channel that leads there.
    pub channel: u8,
    /// Which of the owner's logical units knows the sensor.
    pub lun: u8,
}

impl SensorOwner {
    /// The controller that answers the host, at its address (IPMB Address Allocation, version 1.0).
    pub const CONTROLLER: SensorOwner = SensorOwner { id: 0x20, channel: 0, lun: 0 };

    /// Parses the two bytes.
    pub(in crate::ipmi) fn parse([id, place]: [u8; 2]) -> SensorOwner {
        SensorOwner { id, channel: place >> 4, lun: place & 0x03 }
    }

    /// Whether it is the controller itself: others are asked through it, by messages on another bus.
    pub fn is_controller(self) -> bool {
        SensorOwner { lun: 0, ..self } == SensorOwner::CONTROLLER
    }

    /// Whether it is software, such as the BIOS or an operating system.
    pub fn is_software(self) -> bool {
        self.id & 0x01 != 0
    }
}

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
}
