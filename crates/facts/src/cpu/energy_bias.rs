//! Energy hints: how much clock and idle latency the processor may give up to save power.
//!
//! EPB, the older one, is IA32_ENERGY_PERF_BIAS (Intel SDM vol. 3B, "Hardware-Controlled Performance States" and
//! "Performance and Energy Bias Hint support"; Documentation/admin-guide/pm/intel_epb.rst). EPP replaces it for
//! the clock where the hardware chooses that: `energy_performance_preference`, which is part of the HWP request.

use crate::cpu::cpuinfo::CpuInfo;
use crate::msr::{hwp, intel};
use crate::{Fact, HostView, PerCpu};

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
    /// `performance`, `balance_performance`, `balance_power`, `power`, `default`, or a number up to 255.
    pub text: String,
    /// The path of the file or register it was read from.
    pub path: String,
}

impl Preference {
    /// Whether it gives up performance for power; `default` is the firmware's choice, which nobody knows.
    pub fn leans_to_power(&self) -> bool {
        !matches!(self.text.as_str(), "performance" | "default" | "0")
    }

    /// Whether it is what the processor starts with and Linux leaves: `balance_performance`, 128 (Documentation/admin-guide/pm/
    /// intel_pstate.rst, "Energy vs Performance Hints"; HWP_EPP_BALANCE_PERFORMANCE in arch/x86/include/asm/msr-index.h).
    pub fn is_usual(&self) -> bool {
        matches!(self.text.as_str(), "balance_performance" | "128")
    }
}

impl HostView {
    /// EPP of every CPU that has one: from sysfs, or from the HWP request where the driver has no file for it.
    pub fn energy_preferences(&self) -> PerCpu<Preference> {
        let mut preferences: Vec<(u32, Fact<Preference>)> = Vec::new();
        let policies = self.cpufreq.policies.as_deref().unwrap_or_default();
        for policy in policies {
            let path = policy.path("energy_performance_preference");
            let preference = |text: &String| Preference { text: text.clone(), path: path.clone() };
            let fact = policy.preference.as_ref().map(preference).map_err(Into::into);
            preferences.extend(policy.cpus.iter().map(|cpu| (cpu, fact.clone())));
        }
        let is_told = preferences.iter().any(|(_, it)| !matches!(it, Err(it) if it.is_absence()));
        let has_preference = self.cpuinfo.as_ref().is_ok_and(|it| it.has("hwp_epp"));
        match self.msrs.of(&intel::HWP_REQUEST) {
            Ok(requests) if !is_told && has_preference => {
                requests.iter().map(|(cpu, _)| (cpu, self.preference_of_request(cpu))).collect()
            }
            _ => preferences.into_iter().collect(),
        }
    }
}

impl HostView {
    fn preference_of_request(&self, cpu: u32) -> Fact<Preference> {
        let request = hwp::request(&self.msrs, &self.topology, cpu, hwp::Field::Preference);
        request.map(|(path, request)| Preference { text: request.preference().to_string(), path })
    }
}
