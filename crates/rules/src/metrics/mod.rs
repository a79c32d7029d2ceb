//! The metrics, a file for each source of counts.

mod clocks;
mod cpu_times;
mod cycle_shares;
mod idle_requested;
mod interrupts;
mod kernel_threads;
mod residency;
mod scheduler;
mod sensors;
#[cfg(test)]
mod tests;
pub(crate) mod throttling;
pub(crate) mod ticks;

use crate::metric::Metric;

/// Every metric, in the order in which a table shows them: what is one number for each CPU first, in turbostat's
/// order, then what has parts, then what is one for the host.
pub const METRICS: &[&Metric] = &[
    &clocks::AVERAGE_MHZ,
    &cpu_times::BUSY,
    &cycle_shares::C0,
    &clocks::BUSY_MHZ,
    &clocks::TSC_MHZ,
    &cycle_shares::PRODUCTIVE_CYCLES,
    &cpu_times::STEAL,
    &ticks::TICKS,
    &interrupts::SMI,
    &sensors::TEMPERATURE,
    &scheduler::RUN_QUEUE_WAIT,
    &scheduler::CONTEXT_SWITCHES,
    &throttling::THROTTLE_EVENTS,
    &throttling::THROTTLE_TIME,
    &residency::CORE_RESIDENCY,
    &residency::PACKAGE_RESIDENCY,
    &idle_requested::METRIC,
    &interrupts::INTERRUPTS,
    &interrupts::SOFTIRQS,
    &ticks::TICK_STOPS,
    &sensors::WATTS,
    &kernel_threads::METRIC,
    &interrupts::DEVICE_INTERRUPTS,
    &scheduler::PRESSURE,
];

/// The metric with this id.
pub fn find(id: &str) -> Option<&'static Metric> {
    METRICS.iter().copied().find(|metric| metric.id == id)
}
