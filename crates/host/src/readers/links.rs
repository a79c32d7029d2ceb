//! Reads links: PCI Express, of network, storage, graphics and accelerator devices, and InfiniBand.
//!
//! A server has hundreds of PCI functions, most of them parts of the processor. Their links in /sys/bus/pci
//! tell by one system call each who has a slot above; only those are asked for their class, and only
//! the kinds that matter for the rest.

use crate::Source;
use facts::limits::MOST_DEVICES;
use facts::links::capability::{
    DEVICE_CAPABILITIES, DEVICE_LENGTH, ENTRY_LENGTH, HEADER_LENGTH, MOST_ENTRIES, PCI_EXPRESS,
    Payload, entry, first,
};
use facts::links::infiniband::{Coded, Infiniband, Port, Rate};
use facts::links::pcie::{Kind, Pcie, PcieLink, Shown, class, is_address, width};
use facts::{Expected, Fact, IfPresent, Missing, parse};
use std::collections::BTreeSet;

const DEVICES: &str = "/sys/bus/pci/devices";
const TREE: &str = "/sys/devices";

pub(super) fn read_pcie(source: &dyn Source) -> Pcie {
    Pcie { links: links(source) }
}

fn links(source: &dyn Source) -> Fact<Vec<PcieLink>> {
    let mut links = Vec::new();
    let mut slots = BTreeSet::new();
    for folder in folders(source)? {
        let Some((slot, _)) = folder.rsplit_once('/') else { continue };
        let has_slot = slot.rsplit('/').next().is_some_and(is_address);
        // A port leads to one device; its other functions, virtual ones included, share the link.
        if !has_slot || slots.contains(slot) {
            continue;
        }
        let class = source.parsed(&format!("{folder}/class"), class);
        if let Some(kind) = class.if_present()?.copied().and_then(Kind::of_class) {
            slots.insert(slot.to_owned());
            if links.len() == MOST_DEVICES {
                return Err(Missing::too_many(DEVICES, "links to look at", MOST_DEVICES));
            }
            links.push(link(source, &folder, kind));
        }
    }
    Ok(links)
}

/// The folder of every PCI device below /sys/devices, in order of the addresses. A copy may lack the links and
/// hold the folders.
fn folders(source: &dyn Source) -> Fact<Vec<String>> {
    let linked = source.list(DEVICES).and_then(|names| {
        let links = names.iter().map(|name| source.link(&format!("{DEVICES}/{name}")));
        links.collect::<Fact<Vec<String>>>()
    });
    let below = |target: &String| {
        let (_, below) = target.split_once("devices/")?;
        Some(format!("{TREE}/{below}"))
    };
    match linked {
        Ok(targets) => Ok(targets.iter().filter_map(below).collect()),
        Err(missing) => match walk(source, TREE, 0) {
            found if found.is_empty() => Err(missing),
            found => Ok(found),
        },
    }
}

/// Finds devices by the names of folders. Buses nest as deep as switches are chained.
fn walk(source: &dyn Source, folder: &str, depth: usize) -> Vec<String> {
    const DEEPEST: usize = 12;
    let mut found = Vec::new();
    for name in source.list(folder).unwrap_or_default() {
        let is_device = is_address(&name);
        if (is_device || name.starts_with("pci")) && depth < DEEPEST {
            let below = format!("{folder}/{name}");
            if is_device {
                found.push(below.clone());
            }
            found.extend(walk(source, &below, depth + 1));
        }
    }
    found
}

fn link(source: &dyn Source, folder: &str, kind: Kind) -> PcieLink {
    let slot = folder.rsplit_once('/').map_or("", |(slot, _)| slot);
    let current = shown(source, folder, "current");
    // What does not answer is not asked again.
    let ask = |folder: &str| match &current {
        Ok(_) => shown(source, folder, "max"),
        Err(missing) => Err::<Shown, Missing>(missing.clone()),
    };
    PcieLink {
        folder: folder.to_owned(),
        kind,
        device_max: ask(folder),
        slot_max: ask(slot),
        current,
    }
}

fn shown(source: &dyn Source, folder: &str, which: &str) -> Fact<Shown> {
    let lanes = source.parsed(&format!("{folder}/{which}_link_width"), width)?;
    let text = source.parsed(&format!("{folder}/{which}_link_speed"), parse::line)?;
    Shown::new(folder, text, lanes)
}

/// Reads the maximum payload of a PCI Express device.
///
/// Only root may read the configuration space after its header. Some devices hang if registers are read that they do
/// not have, so the list of capabilities is followed entry by entry, as `lspci -v` does.
pub(super) fn read_payload(source: &dyn Source, device: &str) -> Fact<Payload> {
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

/// Without root, the file ends there.
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

const INFINIBAND: &str = "/sys/class/infiniband";

/// Reads the InfiniBand ports.
pub(super) fn read_infiniband(source: &dyn Source) -> Infiniband {
    Infiniband { ports: ports(source) }
}

fn ports(source: &dyn Source) -> Fact<Vec<Port>> {
    let mut ports = Vec::new();
    for device in source.list(INFINIBAND)? {
        // In a copy of a host, the link of a device may lead out of the copy.
        let numbers =
            source.numbered(&format!("{INFINIBAND}/{device}/ports"), "").unwrap_or_default();
        ports.extend(numbers.into_iter().filter_map(|number| port(source, &device, number)));
        if ports.len() > MOST_DEVICES {
            return Err(Missing::too_many(INFINIBAND, "ports", MOST_DEVICES));
        }
    }
    Ok(ports)
}

/// Reading state and rate asks the firmware of the adapter, so they are not read for an Ethernet port.
fn port(source: &dyn Source, device: &str, number: u32) -> Option<Port> {
    let folder = format!("{INFINIBAND}/{device}/ports/{number}");
    let link_layer = source.parsed(&format!("{folder}/link_layer"), parse::line);
    if link_layer.as_deref().is_ok_and(|layer| layer != "InfiniBand") {
        return None;
    }
    Some(Port {
        name: format!("{device} port {number}"),
        adapter: source.parsed(&format!("{INFINIBAND}/{device}/hca_type"), parse::line),
        link_layer,
        state: source.parsed(&format!("{folder}/state"), Coded::parse),
        phys_state: source.parsed(&format!("{folder}/phys_state"), Coded::parse),
        rate: source.parsed(&format!("{folder}/rate"), Rate::parse),
        folder,
    })
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
        let payload = read_payload(&config(256), "/d").unwrap();
        assert_eq!((payload.limit.0, payload.supported.0), (256, 512));
    }

    #[test]
    fn who_is_not_root_is_told_so() {
        let missing = read_payload(&config(64), "/d").unwrap_err();
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
        assert!(read_payload(&host, "/d").unwrap_err().to_string().contains("a circle"));
        assert!(
            read_payload(&config(8), "/d")
                .unwrap_err()
                .to_string()
                .contains("a header of 64 bytes")
        );
        assert!(read_payload(&config(0), "/x").unwrap_err().is_absence());
    }
}
