//! The drivers that choose the clock by themselves: intel_pstate and amd-pstate.
//!
//! Sources: Documentation/admin-guide/pm/intel_pstate.rst, "Global Attributes in sysfs", and
//! Documentation/admin-guide/pm/amd-pstate.rst, "Global Attributes".

use crate::Fact;

/// What both drivers say of themselves; one is absent where the other, or neither, drives the CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Pstate {
    /// /sys/devices/system/cpu/intel_pstate.
    pub intel: IntelPstate,
    /// /sys/devices/system/cpu/amd_pstate.
    pub amd: AmdPstate,
}

/// intel_pstate, in whichever mode; its files fail to read while it is off.
#[derive(Clone, Debug, PartialEq)]
pub struct IntelPstate {
    /// `status`: active, passive or off.
    pub status: Fact<String>,
    /// `no_turbo`: also true where firmware turned turbo off, or there is none.
    pub no_turbo: Fact<bool>,
    /// `max_perf_pct`: the highest clock that the driver asks for, in percent of the highest there is.
    pub max_perf_pct: Fact<u64>,
    /// `min_perf_pct`: the lowest clock that the driver asks for.
    pub min_perf_pct: Fact<u64>,
    /// `hwp_dynamic_boost`: whether waiting for IO raises the clock.
    pub hwp_dynamic_boost: Fact<bool>,
}

/// amd-pstate.
#[derive(Clone, Debug, PartialEq)]
pub struct AmdPstate {
    /// `status`: active, passive, guided or disable.
    pub status: Fact<String>,
    /// `prefcore`: whether some cores are favoured over others.
    pub prefcore: Fact<String>,
}

impl IntelPstate {
    /// The folder of its files.
    pub const FOLDER: &str = "/sys/devices/system/cpu/intel_pstate";
}

impl AmdPstate {
    /// The folder of its files.
    pub const FOLDER: &str = "/sys/devices/system/cpu/amd_pstate";
}
