//! Reads the cooling devices that act on CPUs.

use crate::Source;
use facts::cpu::cooling::{CoolingDevice, Kind};
use facts::{Fact, Missing, parse};

const FOLDER: &str = "/sys/class/thermal";

pub(super) fn read(source: &dyn Source) -> Fact<Vec<CoolingDevice>> {
    let numbers = source.numbered(FOLDER, "cooling_device")?;
    Ok(numbers.into_iter().filter_map(|number| device(source, number)).collect())
}

fn device(source: &dyn Source, number: u32) -> Option<CoolingDevice> {
    let folder = format!("{FOLDER}/cooling_device{number}");
    let name = source.parsed(&format!("{folder}/type"), parse::line).ok()?;
    let kind = Kind::of_type(&name)?;
    let state = source.parsed(&format!("{folder}/cur_state"), parse::signed);
    let is_on = state.as_ref().is_ok_and(|&state| state > 0);
    let unasked = |file: &str| Missing::not_collected(format!("{folder}/{file}"));
    Some(CoolingDevice {
        max: if is_on {
            source.parsed(&format!("{folder}/max_state"), parse::number)
        } else {
            Err(unasked("max_state"))
        },
        cpu: if is_on { cpu(source, &folder) } else { Err(unasked("device")) },
        kind,
        state,
        folder,
    })
}

/// A `Processor` device leads to its ACPI object, and that to the CPU
/// (drivers/acpi/{processor_driver,glue}.c).
fn cpu(source: &dyn Source, folder: &str) -> Fact<u32> {
    let link = format!("{folder}/device/physical_node");
    let target = source.link(&link)?;
    let number = target.rsplit('/').next().and_then(|name| name.strip_prefix("cpu")?.parse().ok());
    number.ok_or_else(|| Missing::malformed(link, &target, "a link to a CPU"))
}
