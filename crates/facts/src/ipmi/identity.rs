//! Get Device ID, Get Device GUID and Get System GUID: which controller this is and what it can do.
//!
//! Source: IPMI 2.0, sections 20.1, 20.8 and 22.14. Every controller answers Get Device ID at once and from memory,
//! so its round trip measures the way to the controller. Names of makers and products are not in the answer.

use super::Question;
use crate::Expected;
use std::fmt;

/// The identity of a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceId {
    /// The device number, which the manufacturer assigns.
    pub device: u8,
    /// The hardware revision of the controller.
    pub revision: u8,
    /// The version of the firmware, without its auxiliary part.
    pub firmware: (u8, u8),
    /// Whether it is starting, or its firmware or sensor records are being updated.
    pub is_updating: bool,
    /// The version of IPMI.
    pub ipmi: (u8, u8),
    /// Whether it has a repository of sensor records.
    pub has_sensor_records: bool,
    /// The IANA enterprise number of the manufacturer.
    pub manufacturer: u32,
    /// The product number, which the manufacturer assigns.
    pub product: u16,
}

impl DeviceId {
    /// The question for it.
    pub fn question() -> Question<DeviceId> {
        let read = |_: &[u8], data: &[u8]| DeviceId::parse(data);
        Question { name: "Get Device ID", function: 0x06, command: 0x01, data: Vec::new(), read }
    }

    /// Parses an answer. Up to four bytes of auxiliary firmware revision may follow.
    fn parse(data: &[u8]) -> Result<DeviceId, Expected> {
        const ID: Expected = Expected("11 to 15 bytes after the completion code");
        let (fixed, auxiliary) = data.split_first_chunk::<11>().ok_or(ID)?;
        if auxiliary.len() > 4 {
            return Err(ID);
        }
        let [device, revision, major, minor, ipmi, support, maker @ .., product_low, product_high] =
            *fixed;
        let [low, middle, high] = maker;
        Ok(DeviceId {
            device,
            revision: revision & 0x0f,
            firmware: (major & 0x7f, decimal(minor)),
            is_updating: major & 0x80 != 0,
            // The digits are in reverse order: 51h is version 1.5.
            ipmi: (ipmi & 0x0f, ipmi >> 4),
            has_sensor_records: support & 0x02 != 0,
            // Twenty bits; the upper four are reserved.
            manufacturer: u32::from_le_bytes([low, middle, high & 0x0f, 0]),
            product: u16::from_le_bytes([product_low, product_high]),
        })
    }
}

/// A byte of two decimal digits (BCD). Some manufacturers write a binary number: a byte with other digits is taken as
/// it is.
fn decimal(byte: u8) -> u8 {
    let (tens, ones) = (byte >> 4, byte & 0x0f);
    if tens < 10 && ones < 10 { tens * 10 + ones } else { byte }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceId { device, revision, firmware: (major, minor), ipmi, .. } = self;
        write!(
            f,
            "maker {}, product {:#06x}, device {device:#04x} revision {revision}, \
             firmware {major}.{minor:02}, IPMI {}.{}",
            self.manufacturer, self.product, ipmi.0, ipmi.1
        )
    }
}

/// A GUID as 16 bytes. Controllers differ in the order of the bytes, and nothing shows which order one uses: GUIDs
/// are compared, not printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guid(pub [u8; 16]);

impl Guid {
    /// The question for the GUID of the controller.
    pub fn of_device() -> Question<Guid> {
        Guid::question("Get Device GUID", 0x08)
    }

    /// The question for the GUID of the system that the controller manages.
    pub fn of_system() -> Question<Guid> {
        Guid::question("Get System GUID", 0x37)
    }

    fn question(name: &'static str, command: u8) -> Question<Guid> {
        let read = |_: &[u8], data: &[u8]| match <[u8; 16]>::try_from(data) {
            Ok(bytes) => Ok(Guid(bytes)),
            Err(_) => Err(Expected("16 bytes after the completion code")),
        };
        Question { name, function: 0x06, command, data: Vec::new(), read }
    }

    /// Whether a GUID was assigned: otherwise controllers answer all zeros or all ones.
    pub fn is_given(self) -> bool {
        self.0 != [0; 16] && self.0 != [0xff; 16]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 20.1's fields: device 20h, provides SDRs, revision 1, firmware 2.43, IPMI 2.0, maker 674, product 100h.
    const ANSWER: [u8; 12] =
        [0x00, 0x20, 0x81, 0x02, 0x43, 0x02, 0xdf, 0xa2, 0x02, 0x00, 0x00, 0x01];

    fn answered(data: &[u8]) -> Result<DeviceId, crate::ipmi::Unanswered> {
        DeviceId::question().answered(0x07, 0x01, data)
    }

    #[test]
    fn a_controller_says_who_it_is_and_what_it_can() {
        let id = answered(&ANSWER).unwrap();
        assert_eq!(
            id.to_string(),
            "maker 674, product 0x0100, device 0x20 revision 1, firmware 2.43, IPMI 2.0"
        );
        assert!(id.has_sensor_records && !id.is_updating);
    }

    #[test]
    fn one_whose_firmware_is_updated_says_so_and_keeps_its_version() {
        let mut updating = ANSWER;
        updating[3] |= 0x80;
        updating[6] &= !0x02;
        let id = answered(&updating).unwrap();
        assert_eq!((id.is_updating, id.firmware, id.has_sensor_records), (true, (2, 43), false));
    }

    #[test]
    fn auxiliary_bytes_may_follow_and_nothing_else() {
        let with = |n| [&ANSWER[..], &[7; 8][..n]].concat();
        assert_eq!(answered(&with(4)), answered(&ANSWER));
        assert!(answered(&with(5)).is_err() && answered(&ANSWER[..11]).is_err());
    }

    #[test]
    fn a_revision_that_is_no_decimal_number_is_taken_as_it_is() {
        assert_eq!((decimal(0x43), decimal(0x1f)), (43, 0x1f));
    }

    #[test]
    fn sixteen_bytes_are_one_and_no_other_number_of_bytes_is() {
        let answer: Vec<u8> = (0..=16).collect();
        let guid = Guid::of_system().answered(0x07, 0x37, &answer).unwrap();
        assert_eq!((guid.0[0], guid.0[15], guid.is_given()), (1, 16, true));
        assert!(Guid::of_device().answered(0x07, 0x08, &answer[..16]).is_err());
        assert!(Guid::of_device().answered(0x07, 0x08, &[0; 18]).is_err());
    }

    #[test]
    fn one_that_was_never_given_is_known_as_such() {
        assert!(!Guid([0; 16]).is_given() && !Guid([0xff; 16]).is_given());
    }
}
