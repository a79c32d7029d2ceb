//! PCI devices as `lspci -vvv` prints them, as the folders of sysfs: class, and speed and width of the link.

use super::Facts;
use crate::Answers;
use facts::links::lspci::{Device, devices};
use std::collections::BTreeMap;

/// Class names of pci.ids with their codes in sysfs; devices of other classes have links that nobody judges.
const CLASSES: [(&str, u32); 12] = [
    ("3D controller", 0x03_0200),
    ("Display controller", 0x03_8000),
    ("Ethernet controller", 0x02_0000),
    ("Host bridge", 0x06_0000),
    ("Infiniband controller", 0x02_0700),
    ("Network controller", 0x02_8000),
    ("Non-Volatile memory controller", 0x01_0802),
    ("PCI bridge", 0x06_0400),
    ("RAID bus controller", 0x01_0400),
    ("SATA controller", 0x01_0601),
    ("Serial Attached SCSI controller", 0x01_0700),
    ("VGA compatible controller", 0x03_0000),
];

/// PCI_CLASS_NOT_DEFINED of include/linux/pci_ids.h.
const OTHER: u32 = 0;

/// Recognises devices of which the links are shown.
pub(super) fn read(text: &str, facts: &mut Facts) -> Option<usize> {
    let first = devices(text).iter().find(|it| it.current.is_some())?.line;
    import(&mut facts.answers, text);
    Some(first)
}

/// Puts back what `lspci -vv` shows.
pub fn import(answers: &mut Answers, text: &str) {
    let devices = devices(text);
    let bridge = |it: &Device<'_>| Some((bus(&it.address, it.secondary?), it.address.clone()));
    let bridges: BTreeMap<String, String> = devices.iter().filter_map(bridge).collect();
    for device in &devices {
        let folder = folder(&device.address, &bridges);
        let (_, class) =
            CLASSES.iter().find(|(name, _)| *name == device.class).unwrap_or(&("", OTHER));
        answers.link(
            &format!("/sys/bus/pci/devices/{}", device.address),
            &format!("../../../devices/{folder}"),
        );
        let mut file = |name: &str, value: String| {
            answers.file(&format!("/sys/devices/{folder}/{name}"), format!("{value}\n"));
        };
        file("class", format!("{class:#08x}"));
        for (which, link) in [("max", device.max), ("current", device.current)] {
            if let Some((speed, width)) = link {
                file(&format!("{which}_link_speed"), sysfs_speed(speed));
                file(&format!("{which}_link_width"), width.to_owned());
            }
        }
    }
}

/// The bus with the number `number` in the domain of `address`.
fn bus(address: &str, number: &str) -> String {
    let domain = address.split(':').next().unwrap_or_default();
    format!("{domain}:{number}")
}

/// The path below /sys/devices: the bridges on the way from the root bus.
fn folder(address: &str, bridges: &BTreeMap<String, String>) -> String {
    /// Buses nest as deep as switches are chained; a bridge that leads to itself ends here.
    const DEEPEST: usize = 12;
    let mut way = vec![address.to_owned()];
    let mut at = address.to_owned();
    for _ in 0..DEEPEST {
        let Some((bus, _)) = at.rsplit_once(':') else { break };
        match bridges.get(bus) {
            Some(bridge) => at.clone_from(bridge),
            None => {
                way.push(format!("pci{bus}"));
                break;
            }
        }
        way.push(at.clone());
    }
    way.reverse();
    way.join("/")
}

/// `16GT/s` is `16.0 GT/s PCIe` in sysfs (drivers/pci/probe.c, pci_speed_string).
fn sysfs_speed(speed: &str) -> String {
    let number = speed.trim_end_matches("GT/s");
    let dot = if number.contains('.') { "" } else { ".0" };
    format!("{number}{dot} GT/s PCIe")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
00:01.1 PCI bridge: AMD GPP Bridge (prog-if 00 [Normal decode])
\tBus: primary=00, secondary=01, subordinate=01, sec-latency=0
\t\tLnkCap:\tPort #3, Speed 16GT/s, Width x4, ASPM L1, Exit Latency L1 <64us
\t\tLnkSta:\tSpeed 16GT/s, Width x4

01:00.0 Non-Volatile memory controller: Samsung PM9A1 (prog-if 02 [NVM Express])
\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x4, ASPM not supported
\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x2 (downgraded)
";

    #[test]
    fn a_device_behind_a_bridge_is_below_it() {
        let mut answers = Answers::default();
        import(&mut answers, TEXT);
        let text = answers.capture(facts::Origin::Tree, &crate::Identity::default());
        let folder = "/sys/devices/pci0000:00/0000:00:01.1/0000:01:00.0";
        for part in [
            format!("//- /sys/bus/pci/devices/0000:01:00.0 -> ../../..{}\n", &folder[4..]),
            format!("//- {folder}/class\n0x010802\n"),
            format!("//- {folder}/max_link_speed\n16.0 GT/s PCIe\n"),
            format!("//- {folder}/current_link_speed\n2.5 GT/s PCIe\n"),
            format!("//- {folder}/current_link_width\n2\n"),
        ] {
            assert!(text.contains(&part), "{part} in {text}");
        }
    }

    #[test]
    fn a_bridge_that_leads_to_itself_ends() {
        let bridges = [("0000:00".to_owned(), "0000:00:01.0".to_owned())].into_iter().collect();
        assert!(folder("0000:00:02.0", &bridges).ends_with("0000:00:02.0"));
    }
}
