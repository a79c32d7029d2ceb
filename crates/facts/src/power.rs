//! Limits on power as Linux and the management controller report them, what AMD reports of each socket, and the clock
//! of the uncore.
//!
//! Sources: Documentation/power/powercap/powercap.rst and drivers/powercap/intel_rapl_common.c, where `max_power_uw`
//! of the long-term constraint is the thermal design power (TDP) of MSR 0x614. DCMI 1.5, section 6.6, for the limit
//! of the controller: see [`crate::ipmi`]; no file shows it. Documentation/arch/x86/amd_hsmp.rst, "HSMP telemetry
//! sysfs files", and drivers/platform/x86/amd/hsmp/acpi.c: older drivers have only /dev/hsmp, to which this program
//! writes nothing. Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst: `initial_*` is what the driver
//! found when it was loaded.

use crate::ipmi::{self, PowerReading, Response};
use crate::{Fact, Hertz, Microwatts, Missing};

// Former names of these modules, which are still in use.
pub use crate::power as cap;
pub use crate::power as hsmp;
pub use crate::power as limit;
pub use crate::power as uncore;

/// The power limits of every package; absent without an intel_rapl driver or on processors without limits.
pub type PowerLimits = Fact<Vec<PowerLimit>>;

/// The power limits of one package.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerLimit {
    /// Its folder, for evidence: `/sys/class/powercap/intel-rapl:0`, or `intel-rapl-mmio:0`.
    pub folder: String,
    /// `package-0`, or `package-0-die-1`.
    pub name: String,
    /// Whether the long-term limit is enabled. Reads 0 also where firmware has locked the limits
    /// (intel_rapl_common.c, `get_domain_enable`).
    pub enabled: Fact<bool>,
    /// The long-term limit, PL1.
    pub long_term: Fact<Microwatts>,
    /// The short-term limit, PL2; absent where the processor has only one limit.
    pub short_term: Fact<Microwatts>,
    /// The highest short-term limit; 0 means unknown (the kernel reads it from MSR 0x614, bits 46:32).
    pub short_term_max: Fact<Microwatts>,
    /// The thermal design power; 0 means unknown.
    pub design: Fact<Microwatts>,
}

impl PowerLimit {
    /// Whether it is in the memory-mapped copy that client processors have; the lower of both limits applies.
    pub fn is_memory_mapped(&self) -> bool {
        self.folder.contains("-mmio:")
    }

    /// The path of one of its files.
    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }
}

/// The power limit of the management controller, and the power of the board.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerCap {
    /// The active limit; its value is `None` where no limit is active.
    pub limit: Fact<Response<Option<ipmi::PowerLimit>>>,
    /// The power of the board.
    pub reading: Fact<Response<PowerReading>>,
}

impl PowerCap {
    /// Both are missing, for one reason.
    pub fn none(missing: Missing) -> PowerCap {
        PowerCap { limit: Err(missing.clone()), reading: Err(missing) }
    }

    /// The active limit, if it is known.
    pub fn in_force(&self) -> Option<&ipmi::PowerLimit> {
        self.limit.as_ref().ok()?.holds.as_ref()
    }
}

/// All sockets; absent where the driver shows none.
pub type HsmpSockets = Fact<Vec<HsmpSocket>>;

/// The telemetry of one socket.
#[derive(Clone, Debug, PartialEq)]
pub struct HsmpSocket {
    /// Its folder, for evidence: `/sys/devices/platform/AMDI0097:00`.
    pub folder: String,
    /// `prochot_status`: whether the processor is at its thermal threshold.
    pub prochot: Fact<bool>,
    /// `cclk_freq_limit_input`: the limit on the clock of its cores.
    pub clock_limit: Fact<Hertz>,
    /// `pwr_current_active_freq_limit_source`: what limits the clock, one name per line.
    pub limit_sources: Fact<Vec<String>>,
}

impl HsmpSocket {
    /// The path of one of its files.
    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }

    /// Parses `pwr_current_active_freq_limit_source`.
    pub fn sources(text: &str) -> Vec<String> {
        text.lines().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
    }
}

/// The uncore domains; absent without the intel_uncore_frequency driver.
pub type UncoreDomains = Fact<Vec<UncoreDomain>>;

/// One uncore clock: the mesh or ring, the last-level cache, the path to memory.
#[derive(Clone, Debug, PartialEq)]
pub struct UncoreDomain {
    /// Its folder, for evidence and commands.
    pub folder: String,
    /// `min_freq_khz`: the lower limit.
    pub min: Fact<Hertz>,
    /// `max_freq_khz`: the upper limit.
    pub max: Fact<Hertz>,
    /// `initial_max_freq_khz`: the upper limit that the firmware set.
    pub initial_max: Fact<Hertz>,
    /// `elc_floor_freq_khz`: the lowest clock at light load, where that is above the lower limit; absent without
    /// TPMI.
    pub light_load_floor: Fact<Hertz>,
    /// `elc_low_threshold_percent`: the floor applies below this load of the domain's CPUs.
    pub light_load_percent: Fact<u64>,
}

impl UncoreDomain {
    /// The path of one of its files.
    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }
}
