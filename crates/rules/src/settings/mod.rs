//! Every setting, in the order in which they are shown.

mod boot_cpus;
mod boot_values;
pub(crate) mod clocksource;
mod cpu_online;
mod energy_hints;
mod file;
mod firmware;
mod governor;
mod governor_tunable;
mod idle_governor;
mod idle_state;
mod irq_affinity;
mod isolated_partition;
mod kipmid_max_busy;
mod on_demand_modulation;
mod perf_pct;
mod pm_qos;
mod power_ctl;
mod pstate_status;
mod register;
mod reset_state;
mod scaling;
mod scaling_limits;
mod sysctls;
mod task_affinity;
#[cfg(test)]
mod tests;
mod tuner;
mod turbo;
mod uncore;
mod value;
mod workqueue_cpumask;

use crate::setting::Setting;
use std::collections::BTreeSet;

/// The list of settings: command line, reports, documentation and tests iterate over it.
pub const SETTINGS: &[&Setting] = &[
    &tuner::SETTING,
    &pstate_status::INTEL_PSTATE_STATUS,
    &pstate_status::AMD_PSTATE_STATUS,
    &governor::SETTING,
    &governor_tunable::SETTING,
    &turbo::SETTING,
    &scaling_limits::SCALING_MAX,
    &scaling_limits::SCALING_MIN,
    &perf_pct::MAX_PERF_PCT,
    &perf_pct::MIN_PERF_PCT,
    &energy_hints::ENERGY_PERFORMANCE_PREFERENCE,
    &energy_hints::ENERGY_PERF_BIAS,
    &uncore::UNCORE_MAX,
    &uncore::UNCORE_MIN,
    &on_demand_modulation::SETTING,
    &power_ctl::BD_PROCHOT,
    &power_ctl::C1E,
    &idle_governor::SETTING,
    &idle_state::SETTING,
    &pm_qos::RESUME_LATENCY,
    &pm_qos::CPU_DMA_LATENCY,
    &cpu_online::SETTING,
    &isolated_partition::SETTING,
    &irq_affinity::SETTING,
    &workqueue_cpumask::SETTING,
    &task_affinity::KERNEL_THREAD_AFFINITY,
    &task_affinity::PROCESS_AFFINITY,
    &sysctls::STAT_INTERVAL,
    &sysctls::NMI_WATCHDOG,
    &sysctls::TIMER_MIGRATION,
    &sysctls::SPLIT_LOCK_MITIGATE,
    &clocksource::SETTING,
    &kipmid_max_busy::SETTING,
    &boot_cpus::NOHZ_FULL,
    &boot_cpus::ISOLCPUS,
    &boot_cpus::RCU_NOCBS,
    &boot_values::MAX_CSTATE,
    &boot_values::IDLE,
    &boot_values::INTEL_PSTATE,
    &boot_values::BOOT_CLOCKSOURCE,
    &firmware::FIRMWARE_TURBO,
    &firmware::FIRMWARE_OS_CONTROL,
];

/// The setting with this id.
pub fn find(id: &str) -> Option<&'static Setting> {
    SETTINGS.iter().copied().find(|setting| setting.id == id)
}

/// Whether a setting does nothing but to take a fault away: taking the change back brings the fault back.
pub fn only_fixes(id: &str) -> bool {
    id == on_demand_modulation::SETTING.id
}

/// The files that planning any of them reads, as patterns.
pub fn reads() -> Vec<&'static str> {
    let all: BTreeSet<&str> = SETTINGS.iter().flat_map(|it| it.reads.iter().copied()).collect();
    all.into_iter().collect()
}
