//! What the firmware says of the machine and of itself, from /sys/class/dmi/id.
//!
//! Source: drivers/firmware/dmi-id.c; DMTF DSP0134 (SMBIOS), 7.4.1 for chassis types. Serial numbers
//! and UUIDs live in the same folder and are never read.

use crate::Fact;

/// The machine, by its firmware's word.
#[derive(Clone, Debug, PartialEq)]
pub struct Dmi {
    /// `sys_vendor`: Dell Inc.
    pub vendor: Fact<String>,
    /// `product_name`: PowerEdge R740.
    pub product: Fact<String>,
    /// `bios_vendor`.
    pub firmware_vendor: Fact<String>,
    /// `bios_version`.
    pub firmware_version: Fact<String>,
    /// `bios_date`.
    pub firmware_date: Fact<String>,
    /// `chassis_type`, SMBIOS 7.4.1.
    pub chassis: Fact<u64>,
}

impl Dmi {
    /// Whether the chassis runs on a battery: portable, laptop, notebook, sub notebook, tablet,
    /// convertible, detachable.
    pub fn is_portable(&self) -> bool {
        matches!(self.chassis, Ok(8..=10 | 14 | 30..=32))
    }
}
