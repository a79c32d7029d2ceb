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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{counters, host_of};
    use crate::interval::Interval;
    use facts::counters::{Counters, Family};

    const HOST: &str = "\
//- /sys/devices/system/cpu/online
0
//- /sys/devices/system/cpu/cpu0/topology/core_cpus_list
0
//- /sys/devices/system/cpu/cpu0/topology/package_cpus_list
0
";

    /// Every family, and tasks.
    const BEFORE: &str = "\
at 0
CpuTimes idle iowait steal
0 100 5 1
Totals ctxt
0 10
Interrupts 24+nvme0q1 LOC
0 1 1
Softirqs TIMER
0 1
IdleTime C1
0 100
IdleUsage C1
0 1
RunTime run wait
0 5 1000
ContextSwitches switches
0 5
Throttling core_throttle_count core_throttle_total_time_ms package_throttle_count package_throttle_total_time_ms
0 1 1 1 1
Clocks tsc aperf mperf pperf smi
0 1000 1000 1000 1000 1
CoreResidency c6
0 10
PackageResidency c6
0 10
Energy package-0
0 1000
Temperature temperature
0 40000
Pressure cpu.some
0 10
TickStops none sched
0 1 1
TimerEntries local_timer
0 1
task 2 2 kthreadd kernel 0 5 5
";

    const AFTER: &str = "\
at 1000
CpuTimes idle iowait steal
0 150 5 11
Totals ctxt
0 30
Interrupts 24+nvme0q1 LOC
0 21 251
Softirqs TIMER
0 41
IdleTime C1
0 500100
IdleUsage C1
0 51
RunTime run wait
0 500000005 2000
ContextSwitches switches
0 75
Throttling core_throttle_count core_throttle_total_time_ms package_throttle_count package_throttle_total_time_ms
0 2 2 2 2
Clocks tsc aperf mperf pperf smi
0 2500001000 1500001000 1250001000 900001000 2
CoreResidency c6
0 500000010
PackageResidency c6
0 500000010
Energy package-0
0 95001000
Temperature temperature
0 42000
Pressure cpu.some
0 100010
TickStops none sched
0 11 21
TimerEntries local_timer
0 251
task 2 2 kthreadd kernel 0 400000005 300000005
";

    /// `counters` with no more than what `metric` names.
    fn only(metric: &Metric, mut counters: Counters) -> Counters {
        let unread = Counters::unread();
        for &family in Family::ALL.iter().filter(|it| !metric.families.contains(it)) {
            *counters.table_mut(family) = unread.table(family).cloned().map_err(Clone::clone);
        }
        if !metric.tasks {
            counters.tasks = unread.tasks;
        }
        counters
    }

    #[test]
    fn a_metric_is_the_same_where_only_what_it_names_was_sampled() {
        let host = host_of(HOST);
        let (all_before, all_after) = (counters(BEFORE), counters(AFTER));
        for metric in METRICS {
            let before = only(metric, all_before.clone());
            let after = only(metric, all_after.clone());
            let all = Interval { host: &host, before: &all_before, after: &all_after };
            let some = Interval { host: &host, before: &before, after: &after };
            let value = (metric.measure)(&all);
            assert!(value.is_ok(), "{}: {value:?}", metric.id);
            assert_eq!((metric.measure)(&some), value, "{}", metric.id);
        }
    }
}
