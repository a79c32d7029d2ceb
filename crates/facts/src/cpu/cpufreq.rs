//! cpufreq: who chooses the clock, within which limits.
//!
//! Source: Documentation/admin-guide/pm/cpufreq.rst. Two kinds of driver share these files: those where a
//! governor chooses a frequency (acpi-cpufreq, intel_cpufreq, amd-pstate passive, cppc_cpufreq), and those
//! that choose by themselves and only keep the governor's *name* as a hint (intel_pstate and amd-pstate-epp
//! in active mode).

use crate::{CpuSet, Fact, Hertz, Missing};

/// All cpufreq policies of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpufreq {
    /// Every policy, in order; absent where the kernel has no frequency driver.
    pub policies: Fact<Vec<Policy>>,
    /// `scaling_available_frequencies` of the first policy, highest first; boost is not in it. On Intel,
    /// acpi-cpufreq names all of turbo by one entry that lies 1 MHz above the nominal clock.
    pub table: Fact<Vec<Hertz>>,
    /// `cpufreq/boost`: whether clocks above the nominal one are allowed (acpi-cpufreq, cppc_cpufreq and
    /// amd-pstate; intel_pstate has `no_turbo` instead).
    pub boost: Fact<bool>,
    /// `acpi_cppc/nominal_freq` of the first CPU: the nominal clock, by the firmware's word.
    pub cppc_nominal: Fact<Hertz>,
}

/// One cpufreq policy: CPUs that get the same frequency.
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
    /// `scaling_cur_freq`: the last request, or the hardware's feedback where the driver has it.
    pub scaling_cur: Fact<Hertz>,
    /// `cpuinfo_min_freq`: the lowest clock of the hardware.
    pub cpuinfo_min: Fact<Hertz>,
    /// `cpuinfo_max_freq`: the highest clock the driver knows of.
    pub cpuinfo_max: Fact<Hertz>,
    /// `base_frequency`: the guaranteed clock (intel_pstate with HWP).
    pub base_frequency: Fact<Hertz>,
    /// `bios_limit`: the limit that the firmware asks for (acpi-cpufreq).
    pub bios_limit: Fact<Hertz>,
    /// `energy_performance_preference` (HWP and amd-pstate).
    pub preference: Fact<String>,
    /// `boost` of this policy (Linux 6.11 and later).
    pub boost: Fact<bool>,
}

impl Policy {
    /// The path of one of its files.
    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }

    /// Whether the driver chooses the clock by itself, so that the governor `powersave` is its normal,
    /// dynamic mode and not the kernel's lowest-clock governor.
    ///
    /// Source: Documentation/admin-guide/pm/{intel_pstate,amd-pstate}.rst, "Active Mode".
    pub fn drives_itself(&self) -> Result<bool, &Missing> {
        let driver = self.driver.as_ref()?;
        Ok(matches!(driver.as_str(), "intel_pstate" | "amd-pstate-epp" | "amd_pstate_epp"))
    }

    /// Whether the driver asks for turbo by its clock, so that turbo is within the limits; the others ask for the
    /// nominal clock, and turbo comes on top.
    pub fn asks_for_turbo(&self) -> bool {
        let driver = self.driver.as_deref().unwrap_or_default();
        driver.starts_with("intel_") || driver.starts_with("amd") || driver == "cppc_cpufreq"
    }
}
