//! Reads the limits of the uncore's clock.

use crate::Source;
use facts::power::uncore::{UncoreDomain, UncoreDomains};
use facts::{Missing, parse};

const FOLDER: &str = "/sys/devices/system/cpu/intel_uncore_frequency";

/// `package_00_die_00` is a die; `uncore00` a part of one, where the processor has several clocks.
pub(super) fn read(source: &dyn Source) -> UncoreDomains {
    let names = source.list(FOLDER)?;
    let is_domain = |name: &&String| name.starts_with("package_") || name.starts_with("uncore");
    let domains: Vec<UncoreDomain> =
        names.iter().filter(is_domain).map(|name| domain(source, name)).collect();
    if domains.is_empty() {
        Err(Missing::absent(format!("{FOLDER}/package_00_die_00")))
    } else {
        Ok(domains)
    }
}

fn domain(source: &dyn Source, name: &str) -> UncoreDomain {
    let folder = format!("{FOLDER}/{name}");
    let clock = |file: &str| source.parsed(&format!("{folder}/{file}"), parse::kilohertz);
    UncoreDomain {
        min: clock("min_freq_khz"),
        max: clock("max_freq_khz"),
        initial_max: clock("initial_max_freq_khz"),
        light_load_floor: clock("elc_floor_freq_khz"),
        light_load_percent: source
            .parsed(&format!("{folder}/elc_low_threshold_percent"), parse::number),
        folder,
    }
}
