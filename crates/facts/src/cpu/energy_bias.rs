//! Energy hints: how much clock and idle latency the processor may give up to save power.
//!
//! EPB, the older one, is IA32_ENERGY_PERF_BIAS (Intel SDM vol. 3B, "Hardware-Controlled Performance States" and
//! "Performance and Energy Bias Hint support"; Documentation/admin-guide/pm/intel_epb.rst). EPP replaces it for
//! the clock where the hardware chooses that: `energy_performance_preference`, which is part of the HWP request.

use crate::PerCpu;
use crate::cpu::cpuinfo::CpuInfo;
use crate::msr::intel;

/// EPB of every CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct EnergyBias {
    /// 0 is performance, 6 or 7 normal, 15 power saving.
    pub values: PerCpu<u64>,
    /// Whether they come from sysfs, and not from the register itself.
    pub is_from_sysfs: bool,
}

impl EnergyBias {
    /// The path of one CPU's value.
    pub fn path(&self, cpu: u32) -> String {
        if self.is_from_sysfs {
            format!("/sys/devices/system/cpu/cpu{cpu}/power/energy_perf_bias")
        } else {
            intel::ENERGY_PERF_BIAS.path(cpu)
        }
    }

    /// What Linux calls `normal` on a processor: 6, and 7 on three mobile models since Linux 6.2
    /// (arch/x86/kernel/cpu/intel_epb.c, intel_epb_normal: Alder Lake-L and -N, Raptor Lake-P).
    pub fn normal(info: &CpuInfo) -> u64 {
        match (info.family, info.model) {
            (6, 0x9a | 0xbe | 0xba) => 7,
            _ => 6,
        }
    }

    /// EPB in a value of the register, bits 3:0.
    pub fn of_register(value: u64) -> u64 {
        value & 0xf
    }
}

/// EPP of one CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preference {
    /// `performance`, `balance_performance`, `balance_power`, `power`, `default`, or a number up to 255. Where amd-pstate chooses by itself,
    /// `dynamic(profile:balance_performance)` (`show_energy_performance_preference` in drivers/cpufreq/amd-pstate.c).
    pub text: String,
    /// The path of the file or register it was read from.
    pub path: String,
}

impl Preference {
    /// The word or number that a preference shows: of `dynamic(profile:power)` the one that is in force.
    pub fn word(text: &str) -> &str {
        let dynamic = text.strip_prefix("dynamic(profile:").and_then(|it| it.strip_suffix(')'));
        dynamic.unwrap_or(text)
    }

    /// Whether the driver chooses it by itself, by the power supply and the platform's profile.
    pub fn is_dynamic(text: &str) -> bool {
        text.starts_with("dynamic")
    }

    /// Whether it gives up performance for power; `default` is the firmware's choice, which nobody knows.
    pub fn leans_to_power(&self) -> bool {
        !matches!(Preference::word(&self.text), "performance" | "default" | "0")
    }

    /// Whether it is what the processor starts with and Linux leaves: `balance_performance`, 128 (Documentation/admin-guide/pm/
    /// intel_pstate.rst, "Energy vs Performance Hints"; HWP_EPP_BALANCE_PERFORMANCE in arch/x86/include/asm/msr-index.h).
    pub fn is_usual(&self) -> bool {
        matches!(Preference::word(&self.text), "balance_performance" | "128")
    }
}
