//! Every check, in the order in which they are shown.

mod frequency;
mod idle;
mod ipmi;
mod links;
mod power;
mod stopped;
mod system;
mod tick;

use crate::check::Check;

/// The list of checks: command line, reports, documentation and tests iterate over it.
pub const CHECKS: &[&Check] = &[
    &frequency::slow_governor::CHECK,
    &frequency::capped_frequency::CHECK,
    &frequency::turbo_off::CHECK,
    &frequency::power_saving_bias::CHECK,
    &frequency::mixed_frequency_settings::CHECK,
    &frequency::no_frequency_driver::CHECK,
    &frequency::rival_tuner::CHECK,
    &stopped::clock_below_minimum::CHECK,
    &stopped::clock_modulation::CHECK,
    &stopped::forced_idle::CHECK,
    &stopped::prochot_asserted::CHECK,
    &stopped::thermal_throttling::CHECK,
    &stopped::smi_storm::CHECK,
    &stopped::known_bad_firmware::CHECK,
    &power::low_power_limit::CHECK,
    &power::bmc_power_cap::CHECK,
    &power::uncore_capped::CHECK,
    &idle::turbo_headroom_lost::CHECK,
    &idle::no_idle_driver::CHECK,
    &idle::slow_idle_governor::CHECK,
    &tick::nohz_full_unsupported::CHECK,
    &tick::nohz_full_ineffective::CHECK,
    &tick::isolated_without_nohz_full::CHECK,
    &tick::rcu_callbacks_on_isolated::CHECK,
    &tick::irqs_on_isolated::CHECK,
    &tick::vmstat_tick::CHECK,
    &tick::nonexistent_cpus_listed::CHECK,
    &tick::nmi_watchdog_tick::CHECK,
    &system::slow_clocksource::CHECK,
    &system::cgroup_quota_throttling::CHECK,
    &system::stolen_time::CHECK,
    &system::offline_cpus::CHECK,
    &system::split_lock_penalty::CHECK,
    &system::lazy_preemption::CHECK,
    &ipmi::kipmid_busy::CHECK,
    &ipmi::ipmi_without_interrupt::CHECK,
    &links::ethernet_link_degraded::CHECK,
    &links::infiniband_link_degraded::CHECK,
    &links::pcie_link_degraded::CHECK,
    &links::nic_far_from_cpu::CHECK,
];

/// The check with this id.
pub fn find(id: &str) -> Option<&'static Check> {
    CHECKS.iter().copied().find(|check| check.id == id)
}
