//! Get Device ID: who the controller is and what it can do.
//!
//! Source: IPMI 2.0, section 20.1. Every controller answers it, at once and from memory, which makes it the measure of
//! the way there and back. Names of makers and products are in lists of their own.

use super::Question;
use crate::Expected;
use std::fmt;

/// What a controller says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceId {
    /// Its maker's number for the device.
    pub device: u8,
    /// The device's revision.
    pub revision: u8,
    /// The firmware's version, without its auxiliary part.
    pub firmware: (u8, u8),
    /// Whether it is starting, or its firmware or sensor records are being updated.
    pub is_updating: bool,
    /// The version of IPMI that it speaks.
    pub ipmi: (u8, u8),
    /// Whether it keeps a repository of sensor records.
    pub has_sensor_records: bool,
    /// The maker's number, as IANA gives them out.
    pub manufacturer: u32,
    /// The maker's number for the product.
    pub product: u16,
}

impl DeviceId {
    /// Asks for it.
    pub fn question() -> Question<DeviceId> {
        let read = |_: &[u8], data: &[u8]| DeviceId::parse(data);
        Question { name: "Get Device ID", function: 0x06, command: 0x01, data: Vec::new(), read }
    }

    /// Parses an answer. Up to four bytes of auxiliary firmware revision may follow.
    fn parse(data: &[u8]) -> Result<DeviceId, Expected> {
        const ID: Expected = Expected("11 to 15 bytes behind the completion code");
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
            // The digits stand in the wrong order: 51h is version 1.5.
            ipmi: (ipmi & 0x0f, ipmi >> 4),
            has_sensor_records: support & 0x02 != 0,
            // Twenty bits; the upper four are reserved.
            manufacturer: u32::from_le_bytes([low, middle, high & 0x0f, 0]),
            product: u16::from_le_bytes([product_low, product_high]),
        })
    }
}

/// Two decimal digits in one byte. Some makers count in hexadecimal: what is no decimal digit is taken as it is.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 20.1's fields: device 20h, provides SDRs, revision 1, firmware 2.43, IPMI 2.0, maker 674, product 100h.
    const ANSWER: [u8; 12] =
        [0x00, 0x20, 0x81, 0x02, 0x43, 0x02, 0xdf, 0xa2, 0x02, 0x00, 0x00, 0x01];

    fn answered(data: &[u8]) -> Result<DeviceId, super::super::Unanswered> {
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
}
