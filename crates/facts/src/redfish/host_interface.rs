//! The way to the controller from the machine itself, as the firmware describes it: SMBIOS type 42.
//!
//! Sources: DMTF DSP0134 3.7, 7.43 and DSP0270 1.3, section 8: after the header of 4 bytes a type (0x40 for a network), a length and so many bytes
//! about the device, then the number of protocols and each with its number (4 for Redfish over IP), length and data; in these, from 0: UUID (16),
//! how the host gets its address (1), format (1), address (16) and mask (16), how the service is found (1), format (1), address (16),
//! mask (16), port (2), VLAN (4), length of the name (1), name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A Redfish service that this machine reaches without a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostInterface {
    /// The address of the service.
    pub address: IpAddr,
    /// Its port.
    pub port: u16,
    /// The device: a USB or PCI network adapter.
    pub device: &'static str,
    /// Whether the controller makes an account for the machine that asks (bit 0 of the device's characteristics).
    pub has_bootstrap: bool,
}

impl HostInterface {
    /// The URL of the service.
    pub fn url(&self) -> String {
        match self.address {
            IpAddr::V4(address) => format!("https://{address}:{}", self.port),
            IpAddr::V6(address) => format!("https://[{address}]:{}", self.port),
        }
    }
}

const TYPE: u8 = 42;
const END_OF_TABLE: u8 = 127;
const NETWORK: u8 = 0x40;
const REDFISH_OVER_IP: u8 = 4;

/// The host interfaces in a table of SMBIOS structures, as /sys/firmware/dmi/tables/DMI holds it.
///
/// Structures that are cut or have no address are left out: firmware that knows the address only later leaves zeros.
pub fn host_interfaces(table: &[u8]) -> Vec<HostInterface> {
    let mut found = Vec::new();
    let mut rest = table;
    while let Some((structure, after)) = structure(rest) {
        match structure[0] {
            TYPE => found.extend(network(structure)),
            END_OF_TABLE => break,
            _ => {}
        }
        rest = after;
    }
    found
}

/// The first structure, and what comes after its texts, which end with two NUL bytes.
fn structure(table: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = usize::from(*table.get(1)?);
    if length < 4 {
        return None;
    }
    let (structure, texts) = table.split_at_checked(length)?;
    let end = texts.windows(2).position(|it| it == [0, 0])?;
    Some((structure, &texts[end + 2..]))
}

fn network(structure: &[u8]) -> Option<HostInterface> {
    if *structure.get(4)? != NETWORK {
        return None;
    }
    let n_device = usize::from(*structure.get(5)?);
    let (device, protocols) = structure.get(6..)?.split_at_checked(n_device)?;
    let (n_protocols, mut rest) = protocols.split_first()?;
    for _ in 0..*n_protocols {
        let (&[id, length], after) = rest.split_first_chunk::<2>()?;
        let (data, after) = after.split_at_checked(usize::from(length))?;
        if id == REDFISH_OVER_IP {
            return of_redfish(data, device);
        }
        rest = after;
    }
    None
}

fn of_redfish(data: &[u8], device: &[u8]) -> Option<HostInterface> {
    let address: [u8; 16] = data.get(52..68)?.try_into().ok()?;
    let address = match data.get(51)? {
        1 => IpAddr::V4(Ipv4Addr::new(address[0], address[1], address[2], address[3])),
        2 => IpAddr::V6(Ipv6Addr::from(address)),
        _ => return None,
    };
    let port = u16::from_le_bytes(data.get(84..86)?.try_into().ok()?);
    if address.is_unspecified() || port == 0 {
        return None;
    }
    let (device, characteristics) = described(device);
    let has_bootstrap = characteristics.is_some_and(|it| it & 1 != 0);
    Some(HostInterface { address, port, device, has_bootstrap })
}

/// The name of the device, and its characteristics: the last two bytes of the second versions (DSP0270, 8.3).
fn described(device: &[u8]) -> (&'static str, Option<u16>) {
    let at = |at: usize| Some(u16::from_le_bytes(device.get(at..at + 2)?.try_into().ok()?));
    match device.first() {
        Some(2) => ("USB", None),
        Some(3) => ("PCI", None),
        // Type, length, vendor, product, text, MAC address, characteristics.
        Some(4) => ("USB", at(13)),
        // Type, length, vendor, device, their subsystem, MAC address, segment, bus, device, characteristics.
        Some(5) => ("PCI", at(20)),
        _ => ("unknown", None),
    }
}
