//! How much a PCI Express device puts into one packet: a register of its configuration space.
//!
//! Sources: PCI Local Bus Specification 3.0, sections 6.1 and 6.7 (header, capabilities); PCI Express Base
//! Specification, 7.5.3 (PCI Express capability); include/uapi/linux/pci_regs.h. Some devices lock up when registers
//! are read that they do not have (drivers/pci/pci-sysfs.c), so places are given here one by one: the header, then
//! each capability's first bytes.

use crate::Bytes;
use crate::parse::Expected;

/// The header, which every device has and everybody may read.
pub const HEADER_LENGTH: usize = 64;
/// Capability and next one (two bytes) of each entry of the list, with what stands behind them to fill a register.
pub const ENTRY_LENGTH: usize = 4;
/// There is room for 48 of them behind the header (PCI_FIND_CAP_TTL of drivers/pci/pci.h): a longer list is a circle.
pub const MOST_ENTRIES: usize = 48;
/// PCI_CAP_ID_EXP.
pub const PCI_EXPRESS: u8 = 0x10;
/// Where Device Capabilities stands in a PCI Express capability (PCI_EXP_DEVCAP), before Device Control.
pub const DEVICE_CAPABILITIES: usize = 4;
/// Both of these registers.
pub const DEVICE_LENGTH: usize = 8;

/// PCI_STATUS and the bit in it that says that there is a list (PCI_STATUS_CAP_LIST).
const STATUS: usize = 0x06;
const HAS_LIST: u8 = 0x10;
/// PCI_CAPABILITY_LIST.
const FIRST: usize = 0x34;

/// What one packet of a device may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// MaxPayloadSize in force.
    pub limit: Bytes,
    /// The most that the device could do.
    pub supported: Bytes,
}

/// Where a header says that the list of capabilities begins; `None` where the device has none.
pub fn first(header: &[u8]) -> Result<Option<usize>, Expected> {
    let byte = |at: usize| header.get(at).copied().ok_or(Expected("a header of 64 bytes"));
    Ok(if byte(STATUS)? & HAS_LIST == 0 { None } else { place(byte(FIRST)?) })
}

/// Which capability an entry is, and where the next one is.
pub fn entry(bytes: &[u8]) -> Result<(u8, Option<usize>), Expected> {
    match bytes {
        [id, next, ..] => Ok((*id, place(*next))),
        _ => Err(Expected("a capability and the place of the next one")),
    }
}

/// The two lowest bits are reserved, and nothing is in the header.
fn place(byte: u8) -> Option<usize> {
    Some(usize::from(byte & 0xfc)).filter(|&at| at >= HEADER_LENGTH)
}

impl Payload {
    /// Parses Device Capabilities and Device Control, little-endian as they are.
    pub fn parse(registers: &[u8]) -> Result<Payload, Expected> {
        let &[capabilities, _, _, _, control, ..] = registers else {
            return Err(Expected("Device Capabilities and Device Control"));
        };
        // PCI_EXP_DEVCAP_PAYLOAD, PCI_EXP_DEVCTL_PAYLOAD: powers of two from 128; 6 and 7 are reserved.
        let size = |code: u8| match code {
            0..=5 => Ok(Bytes(128 << code)),
            _ => Err(Expected("a payload of 128 to 4096 bytes")),
        };
        Ok(Payload { limit: size(control >> 5)?, supported: size(capabilities & 7)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(status: u8, first: u8) -> Vec<u8> {
        let mut header = vec![0; HEADER_LENGTH];
        (header[STATUS], header[FIRST]) = (status, first);
        header
    }

    #[test]
    fn the_list_begins_where_the_header_says() {
        assert_eq!(first(&header(0x10, 0x41)), Ok(Some(0x40)));
        assert_eq!(first(&header(0x00, 0x40)), Ok(None));
        assert_eq!(first(&header(0x10, 0x08)), Ok(None));
        assert!(first(&header(0x10, 0x40)[..8]).is_err());
    }

    #[test]
    fn an_entry_names_itself_and_the_next() {
        assert_eq!(entry(&[0x10, 0x9c, 2, 0]), Ok((PCI_EXPRESS, Some(0x9c))));
        assert_eq!(entry(&[0x11, 0]), Ok((0x11, None)));
        assert!(entry(&[]).is_err());
    }

    #[test]
    fn the_payload_in_force_is_told_from_what_the_device_could_do() {
        // ConnectX-3 as `lspci -vv` shows it: DevCap MaxPayload 512, DevCtl MaxPayload 256.
        let payload = Payload::parse(&[0x02, 0x8e, 0x2c, 0x01, 0x2e, 0x28, 0, 0]);
        assert_eq!(payload, Ok(Payload { limit: Bytes(256), supported: Bytes(512) }));
        assert!(Payload::parse(&[0xff; 8]).is_err());
        assert!(Payload::parse(&[0; 4]).is_err());
    }
}
