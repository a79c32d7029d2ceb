//! Power limits of packages, as the powercap framework shows them.
//!
//! Source: Documentation/power/powercap/powercap.rst; drivers/powercap/intel_rapl_common.c, where the
//! `max_power_uw` of the long-term constraint is the thermal design power (TDP) of MSR 0x614.

use crate::{Fact, Microwatts};

/// The power limits of every package; absent without an intel_rapl driver or on processors without limits.
pub type PowerLimits = Fact<Vec<PowerLimit>>;

/// The power limits of one package.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerLimit {
    /// Its folder, for evidence: `/sys/class/powercap/intel-rapl:0`, or `intel-rapl-mmio:0`.
    pub folder: String,
    /// `package-0`, or `package-0-die-1`.
    pub name: String,
    /// Whether the long-term limit counts. Reads 0 as well where firmware has locked the limits
    /// (intel_rapl_common.c, `get_domain_enable`).
    pub enabled: Fact<bool>,
    /// The long-term limit, PL1.
    pub long_term: Fact<Microwatts>,
    /// The short-term limit, PL2; absent where the processor has one limit.
    pub short_term: Fact<Microwatts>,
    /// The highest short-term limit; 0 where the processor does not say (the kernel reads it from MSR 0x614, bits 46:32).
    pub short_term_max: Fact<Microwatts>,
    /// The thermal design power; 0 where the processor does not say.
    pub design: Fact<Microwatts>,
}

impl PowerLimit {
    /// Whether it is in the second, memory-mapped copy that client processors have; the lower limit counts.
    pub fn is_memory_mapped(&self) -> bool {
        self.folder.contains("-mmio:")
    }

    /// The path of one of its files.
    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }
}
