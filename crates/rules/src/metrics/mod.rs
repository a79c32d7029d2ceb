//! The metrics, one file each, in the order of columns.

mod average_mhz;
mod busy;
mod busy_mhz;
mod c0;
mod context_switches;
mod core_residency;
mod device_interrupts;
mod idle_requested;
mod interrupts;
mod kernel_threads;
mod package_residency;
mod pressure;
mod productive_cycles;
mod run_queue_wait;
mod smi;
mod softirqs;
mod steal;
mod temperature;
mod throttle_events;
mod throttle_time;
mod tick_stops;
pub(crate) mod ticks;
mod tsc_mhz;
mod watts;

use crate::metric::Metric;

/// Every metric, in the order in which a table shows them: what is one number for each CPU first, in turbostat's
/// order, then what has parts, then what is one for the host.
pub const METRICS: &[&Metric] = &[
    &average_mhz::METRIC,
    &busy::METRIC,
    &c0::METRIC,
    &busy_mhz::METRIC,
    &tsc_mhz::METRIC,
    &productive_cycles::METRIC,
    &steal::METRIC,
    &ticks::METRIC,
    &smi::METRIC,
    &temperature::METRIC,
    &run_queue_wait::METRIC,
    &context_switches::METRIC,
    &throttle_events::METRIC,
    &throttle_time::METRIC,
    &core_residency::METRIC,
    &package_residency::METRIC,
    &idle_requested::METRIC,
    &interrupts::METRIC,
    &softirqs::METRIC,
    &tick_stops::METRIC,
    &watts::METRIC,
    &kernel_threads::METRIC,
    &device_interrupts::METRIC,
    &pressure::METRIC,
];

/// The metric with this id.
pub fn find(id: &str) -> Option<&'static Metric> {
    METRICS.iter().copied().find(|metric| metric.id == id)
}
