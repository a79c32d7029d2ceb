//! Every setting, in the order in which they are shown.

mod amd_pstate_status;
mod asked;
mod boot;
mod clocks;
pub(crate) mod clocksource;
mod cpu_dma_latency;
mod cpu_online;
mod energy_perf_bias;
mod energy_performance_preference;
mod file;
mod governor;
mod governor_tunable;
mod idle_governor;
mod idle_state;
mod intel_pstate_status;
mod irq_affinity;
mod kernel_thread_affinity;
mod kipmid_max_busy;
mod lost;
mod max_perf_pct;
mod min_perf_pct;
mod on_demand_modulation;
mod power_ctl;
mod process_affinity;
mod reads;
mod register;
mod resume_latency;
mod scaling;
mod scaling_max;
mod scaling_min;
mod stat_interval;
mod sysctl_switches;
mod task;
#[cfg(test)]
mod tests;
mod tunables;
mod tuner;
mod turbo;
mod uncore;
mod workqueue_cpumask;

use crate::setting::Setting;
use std::collections::BTreeSet;

/// The list of settings: command line, reports, documentation and tests iterate over it.
pub const SETTINGS: &[&Setting] = &[
    &tuner::SETTING,
    &intel_pstate_status::SETTING,
    &amd_pstate_status::SETTING,
    &governor::SETTING,
    &governor_tunable::SETTING,
    &turbo::SETTING,
    &scaling_max::SETTING,
    &scaling_min::SETTING,
    &max_perf_pct::SETTING,
    &min_perf_pct::SETTING,
    &energy_performance_preference::SETTING,
    &energy_perf_bias::SETTING,
    &uncore::UNCORE_MAX,
    &uncore::UNCORE_MIN,
    &on_demand_modulation::SETTING,
    &power_ctl::BD_PROCHOT,
    &power_ctl::C1E,
    &idle_governor::SETTING,
    &idle_state::SETTING,
    &resume_latency::SETTING,
    &cpu_dma_latency::SETTING,
    &cpu_online::SETTING,
    &irq_affinity::SETTING,
    &workqueue_cpumask::SETTING,
    &kernel_thread_affinity::SETTING,
    &process_affinity::SETTING,
    &stat_interval::SETTING,
    &sysctl_switches::NMI_WATCHDOG,
    &sysctl_switches::TIMER_MIGRATION,
    &sysctl_switches::SPLIT_LOCK_MITIGATE,
    &clocksource::SETTING,
    &kipmid_max_busy::SETTING,
    &boot::nohz_full::SETTING,
    &boot::isolcpus::SETTING,
    &boot::rcu_nocbs::SETTING,
    &boot::max_cstate::SETTING,
    &boot::idle::SETTING,
    &boot::intel_pstate::SETTING,
    &boot::boot_clocksource::SETTING,
];

/// The setting with this id.
pub fn find(id: &str) -> Option<&'static Setting> {
    SETTINGS.iter().copied().find(|setting| setting.id == id)
}

/// Whether a setting does nothing but to take a fault away: taking the change back brings the fault back.
pub fn only_mends(id: &str) -> bool {
    id == on_demand_modulation::SETTING.id
}

/// The files that planning any of them reads, as patterns.
pub fn reads() -> Vec<&'static str> {
    let all: BTreeSet<&str> = SETTINGS.iter().flat_map(|it| it.reads.iter().copied()).collect();
    all.into_iter().collect()
}
