//! The controller of the machine that this runs on: reached without a network, by the way that the firmware describes.

use anyhow::{Result, bail};
use facts::redfish::{HostInterface, host_interfaces};
use facts::{IfPresent, Missing};
use host::Source;

/// The structures of SMBIOS, which only root can read. The single files of /sys/firmware/dmi/entries need the module dmi-sysfs.
const TABLE: &str = "/sys/firmware/dmi/tables/DMI";

/// The Redfish service that this machine reaches by its host interface.
///
/// Errors: the firmware describes none, or what it describes cannot be read.
pub fn in_band(source: &dyn Source) -> Result<HostInterface> {
    const NONE: &str = "the firmware describes no Redfish host interface (SMBIOS type 42): give the controller's address with --redfish URL";
    let table = source.read(TABLE);
    match table.if_present().map_err(Missing::advice).map_err(anyhow::Error::msg)? {
        None => bail!(NONE),
        Some(table) => match host_interfaces(table).into_iter().next() {
            None => bail!(NONE),
            Some(found) => Ok(found),
        },
    }
}
