//! Programs that change frequencies on their own, and what one of them was told to do.
//!
//! Sources: the programs' own service files. Names are as the kernel keeps them, cut to 15 bytes. Programs that act
//! once at boot (cpupower.service, cpufrequtils) leave no process behind and cannot be seen.

use super::process::Process;
use crate::Fact;

/// What is known of tuners beside their processes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuners {
    /// `/etc/tuned/active_profile`: TuneD's profiles, in the order in which they are merged.
    pub tuned_profile: Fact<Vec<String>>,
    /// `/run/tlp`: the folder that TLP, which has no process of its own, makes when it has acted.
    pub tlp_state: Fact<Vec<String>>,
}

/// A program that changes frequencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuner {
    /// The name of its process.
    pub process: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// Whether it sets governors, limits or hints as somebody configured them. thermald sets power limits too, by temperature
    /// or by the firmware's DPTF tables (`--adaptive`), and leaves governors and hints alone.
    pub is_setter: bool,
}

const fn setter(process: &'static str, name: &'static str) -> Tuner {
    Tuner { process, name, is_setter: true }
}

/// Every tuner with a process.
pub const TUNERS: &[Tuner] = &[
    setter("tuned", "tuned"),
    setter("power-profiles-", "power-profiles-daemon"),
    setter("tlp-pd", "TLP"),
    setter("auto-cpufreq", "auto-cpufreq"),
    setter("cpuspeed", "cpuspeed"),
    setter("cpufreqd", "cpufreqd"),
    setter("powernowd", "powernowd"),
    setter("system76-power", "system76-power"),
    setter("intel_lpmd", "intel-lpmd"),
    Tuner { process: "thermald", name: "thermald", is_setter: false },
];

/// TuneD profiles that ask for the governor `performance`, themselves or by what they include.
///
/// Source: profiles/*/tuned.conf of redhat-performance/tuned, `[cpu] governor=performance`. `openshift` includes virtual-guest or
/// network-throughput (`${f:virt_check:...}`), and both do.
const PERFORMANCE_PROFILES: &[&str] = &[
    "throughput-performance",
    "latency-performance",
    "network-throughput",
    "network-latency",
    "accelerator-performance",
    "hpc-compute",
    "enterprise-storage",
    "virtual-host",
    "virtual-guest",
    "aws",
    "openshift",
    "openshift-node",
    "openshift-control-plane",
    "oracle",
    "mssql",
    "postgresql",
    "sap-hana",
    "sap-netweaver",
    "realtime",
    "realtime-virtual-guest",
    "realtime-virtual-host",
    "cpu-partitioning",
];

impl Tuners {
    /// The tuners that run, each with the process or folder that shows it.
    pub fn running(&self, processes: &[Process]) -> Vec<(&'static Tuner, String)> {
        let mut running: Vec<_> = TUNERS
            .iter()
            .filter_map(|tuner| {
                let mut processes = processes.iter().filter(|it| !it.is_kernel_thread);
                let process = processes.find(|it| it.name == tuner.process)?;
                Some((tuner, format!("/proc/{}/stat", process.pid)))
            })
            .collect();
        const TLP: &Tuner = &setter("tlp", "TLP");
        if self.tlp_state.is_ok() && !running.iter().any(|(it, _)| it.name == TLP.name) {
            running.push((TLP, "/run/tlp".to_owned()));
        }
        running
    }

    /// The active TuneD profile that asks for the governor `performance`, if the last one does: what is merged
    /// later overrides what is before it.
    pub fn performance_profile(&self) -> Option<&str> {
        let last = self.tuned_profile.as_deref().unwrap_or_default().last()?;
        Some(last.as_str()).filter(|it| PERFORMANCE_PROFILES.contains(it))
    }
}
