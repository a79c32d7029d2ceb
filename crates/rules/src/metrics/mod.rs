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

use crate::interval::Interval;
use crate::metric::Metric;
use facts::{Fact, PerCpu};

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

/// How busy each CPU was in an interval, in percent: the metric `busy`.
pub fn busy_shares(interval: &Interval) -> Fact<PerCpu<f64>> {
    let series = (cpu_times::BUSY.measure)(interval)?;
    Ok(series.first().and_then(|it| it.values.rows()).cloned().unwrap_or_default())
}
