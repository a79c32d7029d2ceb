//! Reads how much a PCI Express device puts into one packet.
//!
//! Only root may read behind the header of the configuration space, and some devices lock up where registers are read
//! that they do not have: so the list of capabilities is followed entry by entry, as `lspci -v` does.

use crate::Source;
use facts::links::capability::{
    DEVICE_CAPABILITIES, DEVICE_LENGTH, ENTRY_LENGTH, HEADER_LENGTH, MOST_ENTRIES, PCI_EXPRESS,
    Payload, entry, first,
};
use facts::{Expected, Fact, Missing};

pub(super) fn read(source: &dyn Source, device: &str) -> Fact<Payload> {
    let path = format!("{device}/config");
    let header = source.part(&path, 0, HEADER_LENGTH)?;
    let none = || Missing::not_here("MaxPayloadSize", format!("{device} is not on PCI Express"));
    let mut next = first(&header).map_err(|it| malformed(&path, &header, it))?;
    for _ in 0..MOST_ENTRIES {
        let at = next.ok_or_else(none)?;
        let bytes = behind_header(source, &path, at, ENTRY_LENGTH)?;
        let (capability, after) = entry(&bytes).map_err(|it| malformed(&path, &bytes, it))?;
        if capability == PCI_EXPRESS {
            let at = at + DEVICE_CAPABILITIES;
            let bytes = behind_header(source, &path, at, DEVICE_LENGTH)?;
            return Payload::parse(&bytes).map_err(|it| malformed(&path, &bytes, it));
        }
        next = after;
    }
    Err(Missing::malformed(path, "a circle", "a list of capabilities that ends"))
}

/// Whoever is not root gets an end of the file there.
fn behind_header(source: &dyn Source, path: &str, at: usize, length: usize) -> Fact<Vec<u8>> {
    match source.part(path, at, length)? {
        bytes if bytes.is_empty() => {
            Err(Missing::denied(format!("{path} behind its first {HEADER_LENGTH} bytes")))
        }
        bytes => Ok(bytes),
    }
}

fn malformed(path: &str, bytes: &[u8], Expected(expected): Expected) -> Missing {
    Missing::malformed(path, &format!("{bytes:02x?}"), expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;

    /// A device with power management, MSI-X and PCI Express, whose payload is 256 of 512 bytes.
    fn config(length: usize) -> Captured {
        let mut bytes = vec![0u8; 256];
        (bytes[0x06], bytes[0x34]) = (0x10, 0x40);
        bytes[0x40..0x42].copy_from_slice(&[0x01, 0x9c]);
        bytes[0x9c..0x9e].copy_from_slice(&[0x11, 0x60]);
        bytes[0x60..0x62].copy_from_slice(&[0x10, 0x00]);
        (bytes[0x64], bytes[0x68]) = (0x02, 0x2e);
        bytes.truncate(length);
        let digits: String = bytes.iter().map(|it| format!("{it:02x}")).collect();
        Captured::excerpt(&format!("//- /d/config\n!bytes {digits}\n")).unwrap()
    }

    #[test]
    fn the_payload_is_found_behind_other_capabilities() {
        let payload = read(&config(256), "/d").unwrap();
        assert_eq!((payload.limit.0, payload.supported.0), (256, 512));
    }

    #[test]
    fn who_is_not_root_is_told_so() {
        let missing = read(&config(64), "/d").unwrap_err();
        assert_eq!(
            missing.advice(),
            "/d/config behind its first 64 bytes may not be read (run as root)"
        );
    }

    #[test]
    fn a_circle_of_capabilities_and_a_cut_header_are_malformed() {
        let circle = format!("{}10{}40", "00".repeat(6), "00".repeat(45));
        let circle = circle + &"00".repeat(11) + "0140";
        let host = Captured::excerpt(&format!("//- /d/config\n!bytes {circle}\n")).unwrap();
        assert!(read(&host, "/d").unwrap_err().to_string().contains("a circle"));
        assert!(read(&config(8), "/d").unwrap_err().to_string().contains("a header of 64 bytes"));
        assert!(read(&config(0), "/x").unwrap_err().is_absence());
    }
}
