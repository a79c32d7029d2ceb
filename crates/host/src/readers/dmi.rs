//! Reads the firmware's tables: names and versions, never serial numbers.

use crate::Source;
use facts::system::dmi::Dmi;
use facts::{Fact, parse};

pub(super) fn read(source: &dyn Source) -> Dmi {
    let line = |file: &str| -> Fact<String> {
        source.parsed(&format!("/sys/class/dmi/id/{file}"), parse::line)
    };
    Dmi {
        vendor: line("sys_vendor"),
        product: line("product_name"),
        firmware_vendor: line("bios_vendor"),
        firmware_version: line("bios_version"),
        firmware_date: line("bios_date"),
        chassis: source.parsed("/sys/class/dmi/id/chassis_type", parse::number),
    }
}
