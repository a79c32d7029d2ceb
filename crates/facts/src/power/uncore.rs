//! The clock of the uncore: the mesh or ring, the last-level cache, the way to memory.
//!
//! Source: Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst. `initial_*` is what the
//! driver found when it was loaded.

use crate::{Fact, Hertz};

/// The uncore domains; absent without the intel_uncore_frequency driver.
pub type UncoreDomains = Fact<Vec<UncoreDomain>>;

/// One uncore clock.
#[derive(Clone, Debug, PartialEq)]
pub struct UncoreDomain {
    /// Its folder, for evidence and commands.
    pub folder: String,
    /// `min_freq_khz`: the lower limit.
    pub min: Fact<Hertz>,
    /// `max_freq_khz`: the upper limit.
    pub max: Fact<Hertz>,
    /// `initial_max_freq_khz`: the upper limit that the firmware had set.
    pub initial_max: Fact<Hertz>,
    /// `elc_floor_freq_khz`: the clock that it may fall to at light load, where that is above the lower limit; absent
    /// without TPMI.
    pub light_load_floor: Fact<Hertz>,
    /// `elc_low_threshold_percent`: below this load of the domain's CPUs the floor holds.
    pub light_load_percent: Fact<u64>,
}

impl UncoreDomain {
    /// The path of one of its files.
    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }
}
