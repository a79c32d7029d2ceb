//! Reads the packages' power limits from the powercap framework.

use crate::Source;
use facts::power::limit::{PowerLimit, PowerLimits};
use facts::{Fact, Microwatts, Missing, parse};

const POWERCAP: &str = "/sys/class/powercap";

/// The zones of whole packages: `intel-rapl:0`, and `intel-rapl-mmio:0` where the limits have a second copy in
/// mapped memory. Zones below them (`intel-rapl:0:1`) are of parts.
pub(super) fn read(source: &dyn Source) -> PowerLimits {
    let mut limits = Vec::new();
    for interface in ["intel-rapl", "intel-rapl-mmio"] {
        for zone in source.numbered(POWERCAP, &format!("{interface}:"))? {
            let folder = format!("{POWERCAP}/{interface}:{zone}");
            let name = source.parsed(&format!("{folder}/name"), parse::line).unwrap_or_default();
            if name.starts_with("package") {
                limits.push(limit(source, folder, name));
            }
        }
    }
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
        short_term_max: power("constraint_1_max_power_uw"),
        design: power("constraint_0_max_power_uw"),
        folder,
        name,
    }
}
