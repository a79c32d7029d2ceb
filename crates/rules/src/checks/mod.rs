//! Every check by family, and the list of all in the order in which they are shown.

use crate::check::Check;

pub(crate) use frequency::slow_governor;
pub(crate) use stopped::known_fault;
pub(crate) use system::{busy_kernel_threads, cgroup_quota_throttling, kernel_log, stolen_time};

/// Who chooses the clock, and within which limits.
mod frequency {
    pub(super) mod capped_frequency;
    pub(super) mod clamped_utilization;
    pub(super) mod mixed_frequency_settings;
    pub(super) mod no_frequency_driver;
    pub(super) mod power_saving_bias;
    pub(super) mod rival_tuner;
    pub(crate) mod slow_governor;
    pub(super) mod turbo_off;
}

/// How deep CPUs without work may sleep.
mod idle {
    pub(super) mod no_idle_driver;
    pub(super) mod slow_idle_governor;
    pub(super) mod turbo_headroom_lost;
}

/// The BMC, and the kernel thread that waits for it.
mod ipmi {
    pub(super) mod ipmi_without_interrupt;
    pub(super) mod kipmid_busy;
}

/// The links that data comes in over.
mod links {
    pub(super) mod ethernet_link_degraded;
    pub(super) mod infiniband_link_degraded;
    pub(super) mod nic_far_from_cpu;
    pub(super) mod pcie_link_degraded;
    pub(super) mod slot_narrower_than_ports;
}

/// Limits on power and on what is not a core.
mod power {
    pub(super) mod bmc_power_cap;
    pub(super) mod bmc_throttling;
    pub(super) mod low_power_limit;
    pub(super) mod memory_bandwidth_limit;
    pub(super) mod power_limit_reached;
    pub(super) mod speed_select_profile;
    pub(super) mod uncore_capped;
    pub(super) mod undervoltage;
}

/// What stops or clips the clock behind the kernel's back: firmware, heat, the board, the management controller.
mod stopped {
    pub(super) mod clock_below_minimum;
    pub(super) mod clock_clipped_by_platform;
    pub(super) mod clock_modulation;
    pub(super) mod clock_not_delivered;
    pub(super) mod forced_idle;
    pub(crate) mod known_fault;
    pub(super) mod prochot_asserted;
    pub(super) mod smi_storm;
    pub(super) mod thermal_throttling;
}

/// The kernel and the machine around the processors.
mod system {
    pub(crate) mod busy_kernel_threads;
    pub(crate) mod cgroup_quota_throttling;
    pub(super) mod core_scheduling_idle;
    pub(super) mod foreign_scheduler;
    pub(crate) mod kernel_log;
    pub(super) mod lazy_preemption;
    pub(super) mod offline_cpus;
    pub(super) mod slow_clocksource;
    pub(super) mod slower_than_before;
    pub(super) mod split_lock_penalty;
    pub(crate) mod stolen_time;
}

/// Whether the CPUs that were set aside are really left alone: the tick, interrupts, the kernel's own work.
mod tick {
    pub(super) mod clocksource_watchdog_visits;
    pub(super) mod fair_server_tick;
    pub(super) mod invalid_partition;
    pub(super) mod irqs_on_isolated;
    pub(super) mod isolated_without_nohz_full;
    pub(super) mod nmi_watchdog_tick;
    pub(super) mod nohz_full_ineffective;
    pub(super) mod nohz_full_unsupported;
    pub(super) mod nonexistent_cpus_listed;
    pub(super) mod rcu_callbacks_on_isolated;
    pub(super) mod vmstat_tick;

    use facts::{CpuSet, HostView};

    /// The CPUs that take the work which the isolated ones are spared; empty where that is not known.
    fn housekeeping(host: &HostView, isolated: &CpuSet) -> CpuSet {
        host.topology.online.as_ref().map(|online| online.minus(isolated)).unwrap_or_default()
    }
}

/// The list of checks: command line, reports, documentation and tests iterate over it.
pub const CHECKS: &[&Check] = &[
    &slow_governor::CHECK,
    &frequency::capped_frequency::CHECK,
    &frequency::clamped_utilization::CHECK,
    &frequency::turbo_off::CHECK,
    &frequency::power_saving_bias::CHECK,
    &frequency::mixed_frequency_settings::CHECK,
    &frequency::no_frequency_driver::CHECK,
    &frequency::rival_tuner::CHECK,
    &stopped::clock_below_minimum::CHECK,
    &stopped::clock_not_delivered::CHECK,
    &stopped::clock_clipped_by_platform::CHECK,
    &stopped::clock_modulation::CHECK,
    &stopped::forced_idle::CHECK,
    &stopped::prochot_asserted::CHECK,
    &stopped::thermal_throttling::CHECK,
    &stopped::smi_storm::CHECK,
    &power::low_power_limit::CHECK,
    &power::power_limit_reached::CHECK,
    &power::speed_select_profile::CHECK,
    &power::undervoltage::CHECK,
    &power::bmc_power_cap::CHECK,
    &power::bmc_throttling::CHECK,
    &power::uncore_capped::CHECK,
    &power::memory_bandwidth_limit::CHECK,
    &idle::turbo_headroom_lost::CHECK,
    &idle::no_idle_driver::CHECK,
    &idle::slow_idle_governor::CHECK,
    &tick::nohz_full_unsupported::CHECK,
    &tick::nohz_full_ineffective::CHECK,
    &tick::fair_server_tick::CHECK,
    &tick::isolated_without_nohz_full::CHECK,
    &tick::rcu_callbacks_on_isolated::CHECK,
    &tick::irqs_on_isolated::CHECK,
    &tick::vmstat_tick::CHECK,
    &tick::nonexistent_cpus_listed::CHECK,
    &tick::invalid_partition::CHECK,
    &tick::nmi_watchdog_tick::CHECK,
    &tick::clocksource_watchdog_visits::CHECK,
    &system::slow_clocksource::CHECK,
    &cgroup_quota_throttling::CHECK,
    &busy_kernel_threads::CHECK,
    &stolen_time::CHECK,
    &system::offline_cpus::CHECK,
    &system::split_lock_penalty::CHECK,
    &system::lazy_preemption::CHECK,
    &system::core_scheduling_idle::CHECK,
    &system::foreign_scheduler::CHECK,
    &ipmi::kipmid_busy::CHECK,
    &ipmi::ipmi_without_interrupt::CHECK,
    &links::ethernet_link_degraded::CHECK,
    &links::infiniband_link_degraded::CHECK,
    &links::pcie_link_degraded::CHECK,
    &links::slot_narrower_than_ports::CHECK,
    &links::nic_far_from_cpu::CHECK,
    &system::slower_than_before::CHECK,
    // By what those before it found.
    &known_fault::CHECK,
    &kernel_log::CHECK,
];

/// The check with this id.
pub fn find(id: &str) -> Option<&'static Check> {
    CHECKS.iter().copied().find(|check| check.id == id)
}
