//! PCI devices as `lspci -vv` prints them.
//!
//! Source: pciutils, ls-caps.c, cap_express_link: `(downgraded)` and `(ok)` are there since 3.6.

use super::pcie::is_address;

/// One device.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Device<'a> {
    /// The number of its first line.
    pub line: usize,
    /// With its domain: `0000:3b:00.0`.
    pub address: String,
    /// The name of its class.
    pub class: &'a str,
    /// The bus below a bridge.
    pub secondary: Option<&'a str>,
    /// Speed and width that the device has at most.
    pub max: Option<(&'a str, &'a str)>,
    /// Speed and width that it has.
    pub current: Option<(&'a str, &'a str)>,
}

/// Every device of a text. The empty lines between them, and the blanks before the others, may be lost.
pub fn devices(text: &str) -> Vec<Device<'_>> {
    let mut devices: Vec<Device<'_>> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if let Some(device) = head(line) {
            devices.push(Device { line: at, ..device });
        } else if let Some(device) = devices.last_mut() {
            device.take(line.trim());
        }
    }
    devices
}

/// A device by the first of its lines: `3b:00.0 Ethernet controller: Mellanox ...`, with `[0200]` behind the class by `-nn`.
fn head(line: &str) -> Option<Device<'_>> {
    let (address, rest) = line.trim().split_once(' ')?;
    let has_domain = address.matches(':').count() == 2;
    let address = if has_domain { address.to_owned() } else { format!("0000:{address}") };
    if !is_address(&address) {
        return None;
    }
    let (class, _) = rest.split_once(": ")?;
    let class = class.split(" [").next().unwrap_or(class);
    Some(Device { address, class, ..Device::default() })
}

impl<'a> Device<'a> {
    fn take(&mut self, line: &'a str) {
        if let Some(link) = line.strip_prefix("LnkCap:") {
            self.max = link_of(link);
        } else if let Some(link) = line.strip_prefix("LnkSta:") {
            self.current = link_of(link);
        } else if let Some((_, rest)) = line.split_once("secondary=") {
            self.secondary = rest.split(',').next();
        }
    }
}

/// Speed and width of `Port #3, Speed 16GT/s, Width x4, ...` or `Speed 8GT/s (downgraded), Width x4`.
pub fn link_of(text: &str) -> Option<(&str, &str)> {
    let word = |name: &str| text.split_once(name)?.1.split([',', ' ', '\n']).next();
    Some((word("Speed ")?, word("Width x")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_known_by_its_address_whatever_became_of_the_blanks() {
        let text = "# lspci -vv\n3b:00.0 Ethernet controller [0200]: Mellanox MT2892\nLnkCap: Port #0, Speed 16GT/s, Width x16, ASPM\n\
                    LnkSta:\tSpeed 8GT/s (downgraded), Width x8 (downgraded)\n";
        let found = devices(text);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].line, &*found[0].address, found[0].class),
            (1, "0000:3b:00.0", "Ethernet controller")
        );
        assert_eq!(
            (found[0].max, found[0].current),
            (Some(("16GT/s", "16")), Some(("8GT/s", "8")))
        );
    }
}
