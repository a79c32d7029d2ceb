//! Limits on power as Linux and the management controller report them, what AMD reports of each socket ([`hsmp`]), and the
//! clock of the uncore; and whether a Raspberry Pi has enough voltage.
//!
//! Sources: Documentation/power/powercap/powercap.rst and drivers/powercap/intel_rapl_common.c, where `max_power_uw`
//! of the long-term constraint is the thermal design power (TDP) of MSR 0x614. DCMI 1.5, section 6.6, for the limit
//! of the controller: see [`crate::ipmi`]; no file shows it. Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst:
//! `initial_*` is what the driver found when it was loaded. drivers/hwmon/raspberrypi-hwmon.c; the documentation of Raspberry Pi, "vcgencmd get_throttled", for the bits that its
//! own kernel also shows as a file.

pub mod plr;

use crate::ipmi::{self, PowerReading, Response};
use crate::parse::{Expected, trimmed};
use crate::{Fact, Hertz, Microwatts, Missing};

pub mod hsmp;
pub mod speed_select;

// Former names of these modules, which are still in use.
pub use crate::power as board;
pub use crate::power as cap;
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
    /// `elc_high_threshold_percent`: above this load the clock is chosen for latency and no longer for efficiency, where that is enabled.
    pub high_load_percent: Fact<u64>,
    /// `elc_high_threshold_enable`.
    pub high_load_counts: Fact<bool>,
    /// `current_freq_khz`: the running clock. Only root may read it; absent of a whole die with several clusters.
    pub current: Fact<Hertz>,
    /// `package_id`. It and the next three are of a cluster (`uncore00`) only, and only root may read them.
    pub package: Fact<u64>,
    /// `domain_id`: the number of the power domain, as TPMI counts them; the same as that of the log of limits ([`plr`]).
    pub domain: Fact<u64>,
    /// `fabric_cluster_id`.
    pub cluster: Fact<u64>,
    /// `die_id`: the kernel's number of the die; absent of dies without cores, and where a package has one die (since Linux 6.16).
    pub die: Fact<u64>,
    /// `agent_types`: what is in it, of `core`, `cache`, `memory` and `io`; absent before Linux 6.16.
    pub agents: Fact<Vec<String>>,
}

impl UncoreDomain {
    /// The path of one of its files.
    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }

    /// Whether its clock is chosen for latency at any load: a high threshold of 0 that counts, as "Latency Optimized Mode" of firmware
    /// sets it (intel/pcm, doc/LATENCY-OPTIMIZED-MODE.md and scripts/bhs-power-mode.sh).
    pub fn is_for_latency(&self) -> bool {
        self.high_load_counts == Ok(true) && self.high_load_percent == Ok(0)
    }
}

/// What the firmware of a board says of its power: of a Raspberry Pi its supply, of a POWER system its limit. Absent on other machines.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardPower {
    /// `get_throttled`; absent from kernels that are not Raspberry Pi's own.
    pub throttled: Fact<FirmwareThrottling>,
    /// `in0_lcrit_alarm` of the sensor `rpi_volt`: whether the voltage was too low within the last two seconds.
    pub alarm: Fact<VoltageAlarm>,
    /// The limit on the power of a POWER system without a hypervisor.
    pub cap: Fact<SystemCap>,
}

/// The limit on a system's power as OPAL shows it, in whole watts (Documentation/ABI/testing/sysfs-firmware-opal-powercap).
#[derive(Clone, Debug, PartialEq)]
pub struct SystemCap {
    /// `powercap-current`: the limit in force.
    pub current: Fact<Microwatts>,
    /// `powercap-max`: the highest limit there can be.
    pub highest: Fact<Microwatts>,
}

impl SystemCap {
    /// The path of one of its files.
    pub fn path(&self, file: &str) -> String {
        SystemCap::path_of(file)
    }

    /// The same, before it is read.
    pub fn path_of(file: &str) -> String {
        format!("/sys/firmware/opal/powercap/system-powercap/{file}")
    }

    /// Parses whole watts.
    pub fn watts(text: &str) -> Result<Microwatts, Expected> {
        let watts = trimmed(text).parse().ok().and_then(|it: u64| it.checked_mul(1_000_000));
        watts.map(Microwatts).ok_or(Expected("a power in watts"))
    }
}

/// The bits of `get_throttled`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirmwareThrottling {
    /// Its file, for evidence.
    pub path: String,
    /// What it held.
    pub bits: u32,
}

/// The alarm of the sensor `rpi_volt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoltageAlarm {
    /// Its file, for evidence.
    pub path: String,
    /// Whether it is raised.
    pub is_raised: bool,
}

impl FirmwareThrottling {
    /// Parses `50005`, a hexadecimal number without a prefix.
    pub fn bits_of(text: &str) -> Result<u32, Expected> {
        let text = trimmed(text);
        let digits = text.strip_prefix("0x").unwrap_or(text);
        u32::from_str_radix(digits, 16).map_err(|_| Expected("hexadecimal digits like 50005"))
    }

    /// Whether the voltage is too low at the moment (bit 0).
    pub fn is_low(&self) -> bool {
        self.bits & 1 != 0
    }

    /// Whether the firmware holds the clock down at the moment (bits 1 and 2).
    pub fn is_held(&self) -> bool {
        self.bits & 0b110 != 0
    }

    /// Whether the voltage was too low since boot, or since the driver of the sensor asked last (bit 16).
    pub fn was_low(&self) -> bool {
        self.bits >> 16 & 1 != 0
    }

    /// Whether the processor is at the temperature at which the firmware lowers its clock (bit 3).
    pub fn is_hot(&self) -> bool {
        self.bits >> 3 & 1 != 0
    }

    /// Whether it was there since boot (bit 19).
    pub fn was_hot(&self) -> bool {
        self.bits >> 19 & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_firmware_of_a_raspberry_pi_says_is_hexadecimal() {
        let of = |text| {
            let bits = FirmwareThrottling::bits_of(text).unwrap();
            FirmwareThrottling { path: String::new(), bits }
        };
        let low = of("50005\n");
        assert!(low.is_low() && low.is_held() && low.was_low() && !low.is_hot() && !low.was_hot());
        let before = of("0x50000");
        assert!(!before.is_low() && !before.is_held() && before.was_low());
        let hot = of("8000a");
        assert!(hot.is_hot() && hot.was_hot() && hot.is_held() && !hot.is_low());
        assert!(FirmwareThrottling::bits_of("low").is_err());
    }
}
