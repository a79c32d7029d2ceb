//! cpufreq: what chooses the clock, and within which limits.
//!
//! Sources: Documentation/admin-guide/pm/cpufreq.rst; intel_pstate.rst, "Global Attributes in sysfs", and
//! amd-pstate.rst, "Global Attributes", in the same folder. Two kinds of driver share these files. With acpi-cpufreq,
//! intel_cpufreq, amd-pstate passive and cppc_cpufreq a governor chooses the frequency. intel_pstate and
//! amd-pstate-epp in active mode choose it themselves, and the *name* of the governor is only a hint.

use crate::cpu::delivered::Excursions;
use crate::parse::{Expected, trimmed};
use crate::{CpuSet, Fact, Hertz, Missing};

/// All cpufreq policies of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpufreq {
    /// Every policy, in order; absent where the kernel has no frequency driver.
    pub policies: Fact<Vec<Policy>>,
    /// `scaling_available_frequencies` of the first policy, highest first, without boost. On Intel, acpi-cpufreq
    /// represents turbo by one entry that is 1 MHz above the nominal clock.
    pub table: Fact<Vec<Hertz>>,
    /// `cpufreq/boost`: whether clocks above the nominal one are allowed (acpi-cpufreq, cppc_cpufreq and amd-pstate;
    /// intel_pstate has `no_turbo` instead).
    pub boost: Fact<bool>,
    /// `acpi_cppc/nominal_freq` of the first CPU: the nominal clock according to the firmware.
    pub cppc_nominal: Fact<Hertz>,
}

impl Cpufreq {
    /// The folder of all policies since Linux 4.3, and of what they share before it.
    pub const FOLDER: &str = "/sys/devices/system/cpu/cpufreq";
}

/// One cpufreq policy: CPUs that share a frequency.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Its folder, for evidence and commands: `/sys/devices/system/cpu/cpufreq/policy0`.
    pub folder: String,
    /// The online CPUs it drives.
    pub cpus: CpuSet,
    /// `scaling_driver`.
    pub driver: Fact<String>,
    /// `scaling_governor`.
    pub governor: Fact<String>,
    /// `scaling_min_freq`: the effective lower limit.
    pub scaling_min: Fact<Hertz>,
    /// `scaling_max_freq`: the effective upper limit; boost may lie above it.
    pub scaling_max: Fact<Hertz>,
    /// `scaling_cur_freq`: the last request, or feedback of the hardware where the driver has it.
    pub scaling_cur: Fact<Hertz>,
    /// `cpuinfo_cur_freq`: the clock that the driver reads from the hardware; root reads it. With acpi-cpufreq it is the clock in the
    /// register of requests (get_cur_val in drivers/cpufreq/acpi-cpufreq.c).
    pub cpuinfo_cur: Fact<Hertz>,
    /// `cpuinfo_avg_freq`: the average of the last milliseconds in which a CPU ran, without privilege (Linux 6.15 and later, on arm64 with
    /// activity monitors and on x86). On arm64 a CPU that had no tick for 20 ms answers with EAGAIN.
    pub cpuinfo_avg: Fact<Hertz>,
    /// `auto_select`: whether the platform chooses the level by itself, and Linux gives it limits only (cppc_cpufreq, Linux 6.16).
    pub auto_select: Fact<bool>,
    /// `perf_limited`: the platform's log of having delivered less than was requested (cppc_cpufreq, Linux 7.0).
    pub perf_limited: Fact<Excursions>,
    /// `cpuinfo_min_freq`: the lowest clock of the hardware.
    pub cpuinfo_min: Fact<Hertz>,
    /// `cpuinfo_max_freq`: the highest clock the driver knows of.
    pub cpuinfo_max: Fact<Hertz>,
    /// `base_frequency`: the guaranteed clock (intel_pstate with HWP).
    pub base_frequency: Fact<Hertz>,
    /// `bios_limit`: the limit that the firmware requests (acpi-cpufreq).
    pub bios_limit: Fact<Hertz>,
    /// `energy_performance_preference` (HWP and amd-pstate).
    pub preference: Fact<String>,
    /// `boost` of this policy (Linux 6.11 and later).
    pub boost: Fact<bool>,
    /// `amd_pstate_lowest_nonlinear_freq`: the lowest clock at which less voltage is needed; below it a lower clock saves little. Read where
    /// `scaling_max_freq` is a limit.
    pub lowest_nonlinear: Fact<Hertz>,
    /// `amd_pstate_prefcore_ranking` (amd-pstate, Linux 6.9 and later): where the processor prefers some cores, the rank of this one, 255 at
    /// most. It is no clock: a core of lower rank has the same `cpuinfo_max_freq` and reaches a lower turbo clock, which nobody holds
    /// down. `amd_pstate_highest_perf`, which was the rank in older kernels, is not read.
    pub ranking: Fact<u64>,
}

impl Policy {
    /// The path of one of its files.
    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }

    /// Whether the driver chooses the clock itself, so that the governor `powersave` is its normal, dynamic mode and
    /// not the kernel's lowest-clock governor (Documentation/admin-guide/pm/{intel_pstate,amd-pstate}.rst, "Active
    /// Mode").
    pub fn drives_itself(&self) -> Result<bool, &Missing> {
        let driver = self.driver.as_ref()?;
        Ok(matches!(driver.as_str(), "intel_pstate" | "amd-pstate-epp" | "amd_pstate_epp"))
    }

    /// Whether the driver has `bios_limit` (`.bios_limit` of drivers/cpufreq/*.c): true where the driver is unknown.
    pub fn asks_firmware_for_a_limit(&self) -> bool {
        const NONE: [&str; 5] =
            ["intel_", "amd-pstate", "amd_pstate", "cppc_cpufreq", "cpufreq-dt"];
        let driver = self.driver.as_deref().unwrap_or_default();
        !NONE.iter().any(|it| driver.starts_with(it))
    }

    /// Whether its highest clock is above the nominal one where there is turbo; true where the driver is unknown. That of
    /// pcc-cpufreq, of device trees and of SCMI is the nominal clock in any case.
    pub fn shows_turbo(&self) -> bool {
        self.driver.as_deref().map_or(true, |it| it == "acpi-cpufreq" || it.starts_with("intel_"))
    }

    /// Whether the driver requests turbo clocks, so that the limits include turbo. Other drivers request the nominal
    /// clock, and the hardware adds turbo.
    pub fn asks_for_turbo(&self) -> bool {
        let driver = self.driver.as_deref().unwrap_or_default();
        driver.starts_with("intel_") || driver.starts_with("amd") || driver == "cppc_cpufreq"
    }
}

/// The global attributes of both drivers; those of a driver that is not in use are absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Pstate {
    /// /sys/devices/system/cpu/intel_pstate.
    pub intel: IntelPstate,
    /// /sys/devices/system/cpu/amd_pstate.
    pub amd: AmdPstate,
}

/// intel_pstate in any mode; its files cannot be read while it is off.
#[derive(Clone, Debug, PartialEq)]
pub struct IntelPstate {
    /// `status`: active, passive or off.
    pub status: Fact<String>,
    /// `no_turbo`: true also where firmware turned turbo off, or the processor has none.
    pub no_turbo: Fact<bool>,
    /// `max_perf_pct`: the highest clock that the driver requests, in percent of the highest possible.
    pub max_perf_pct: Fact<u64>,
    /// `min_perf_pct`: the lowest clock that the driver requests.
    pub min_perf_pct: Fact<u64>,
    /// `hwp_dynamic_boost`: whether waiting for IO raises the clock.
    pub hwp_dynamic_boost: Fact<bool>,
}

/// What the driver amd-pstate says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct AmdPstate {
    /// `status`: active, passive, guided or disable.
    pub status: Fact<String>,
    /// `prefcore`: whether some cores are preferred.
    pub prefcore: Fact<String>,
    /// `dynamic_epp`: whether the driver chooses the energy preference of all policies by itself, and then refuses a written one with EBUSY.
    /// Kernels before it have no such file, and those after it have a preference `dynamic` instead.
    pub dynamic_epp: Fact<bool>,
}

impl IntelPstate {
    /// The folder of its files.
    pub const FOLDER: &str = "/sys/devices/system/cpu/intel_pstate";
}

impl AmdPstate {
    /// The folder of its files.
    pub const FOLDER: &str = "/sys/devices/system/cpu/amd_pstate";

    /// Parses `enabled` or `disabled` (str_enabled_disabled of the kernel).
    pub fn is_enabled(text: &str) -> Result<bool, Expected> {
        match trimmed(text) {
            "enabled" => Ok(true),
            "disabled" => Ok(false),
            _ => Err(Expected("enabled or disabled")),
        }
    }
}
