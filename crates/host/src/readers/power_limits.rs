//! Reads the packages' power limits from the powercap framework.

use crate::Source;
use facts::power::limit::{PowerLimit, PowerLimits};
use facts::{Fact, Microwatts, Missing, parse};

const POWERCAP: &str = "/sys/class/powercap";

/// The zones of whole packages: `intel-rapl:0`. Zones below them (`intel-rapl:0:1`) are of parts, and
/// `intel-rapl-mmio:0` is the other door to the same limits.
pub(super) fn read(source: &dyn Source) -> PowerLimits {
    let zones = source.numbered(POWERCAP, "intel-rapl:")?;
    let limits: Vec<PowerLimit> = zones
        .into_iter()
        .filter_map(|zone| {
            let folder = format!("{POWERCAP}/intel-rapl:{zone}");
            let name = source.parsed(&format!("{folder}/name"), parse::line).ok()?;
            name.starts_with("package").then(|| limit(source, folder, name))
        })
        .collect();
    if limits.is_empty() {
        return Err(Missing::absent(format!("{POWERCAP}/intel-rapl:0")));
    }
    Ok(limits)
}

fn limit(source: &dyn Source, folder: String, name: String) -> PowerLimit {
    let power = |file: &str| -> Fact<Microwatts> {
        source.parsed(&format!("{folder}/{file}"), parse::number).map(Microwatts)
    };
    PowerLimit {
        enabled: source.parsed(&format!("{folder}/enabled"), parse::switch),
        long_term: power("constraint_0_power_limit_uw"),
        short_term: power("constraint_1_power_limit_uw"),
        design: power("constraint_0_max_power_uw"),
        folder,
        name,
    }
}
