//! Tests of what every metric must do, on samples that have a table of each family.

use super::*;
use crate::fixture::{counters, host_of, measured_on};
use crate::interval::Interval;
use facts::counters::{Counters, Family};

const HOST: &str = "\
//- /sys/devices/system/cpu/online
0-1
//- /sys/devices/system/cpu/cpu0/topology/core_cpus_list
0
//- /sys/devices/system/cpu/cpu1/topology/core_cpus_list
1
//- /sys/devices/system/cpu/cpu0/topology/package_cpus_list
0
//- /sys/devices/system/cpu/cpu1/topology/package_cpus_list
1
";

/// A row of CPU 0 in a table of every family, and a task.
const BEFORE: &str = "\
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
0 500000005 250001000
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
    if metric.tasks == crate::metric::Tasks::None {
        counters.tasks = unread.tasks;
    }
    counters
}

/// The value of each metric over two seconds from `BEFORE` to `AFTER`, on both CPUs.
const VALUES: &str = "
average-mhz = 0: 750.00; 1: 750.00
busy = 0: 75.00; 1: 75.00
c0 = 0: 50.00; 1: 50.00
busy-mhz = 0: 1500.00; 1: 1500.00
tsc-mhz = 0: 1250.00; 1: 1250.00
productive-cycles = 0: 60.00; 1: 60.00
steal = 0: 5.00; 1: 5.00
ticks = 0: 125.00; 1: 125.00
smi = 0: 0.50; 1: 0.50
temperature = 0: 42.00; 1: 42.00
run-queue-wait = 0: 125.00; 1: 125.00
context-switches = 0: 35.00; 1: 35.00
throttle-events = core 0: 0.50; core 1: 0.50; package 0: 0.50; package 1: 0.50
throttle-time = core 0: 0.50; core 1: 0.50; package 0: 0.50; package 1: 0.50
core-residency = c6 0: 20.00; c6 1: 20.00
package-residency = c6 0: 20.00; c6 1: 20.00
idle-requested = C1 0: 25.00; C1 1: 25.00
interrupts = devices 0: 10.00; devices 1: 10.00; LOC 0: 125.00; LOC 1: 125.00
softirqs = TIMER 0: 20.00; TIMER 1: 20.00
tick-stops = none 0: 5.00; none 1: 5.00; sched 0: 10.00; sched 1: 10.00
watts = package-0 host: 47.50
kernel-threads = kthreadd host: 20.00
device-interrupts = 24 nvme0q1 host: 20.00
pressure = cpu.some host: 5.00
";

/// Families with one row for the whole host.
const OF_HOST: &[&str] = &["Totals", "Energy", "Pressure"];

/// A sample of two CPUs, each with the row that its text has; tasks are those of `cpu1`.
fn sample(ms: u32, cpu0: &str, cpu1: &str) -> String {
    let mut lines = vec![format!("at {ms}")];
    let mut family = "";
    for (of_0, of_1) in cpu0.lines().zip(cpu1.lines()) {
        match (of_0.strip_prefix("0 "), of_1.strip_prefix("0 ")) {
            (Some(row), _) if OF_HOST.contains(&family) => lines.push(format!("0 {row}")),
            (Some(row_0), Some(row_1)) => {
                lines.extend([format!("0 {row_0}"), format!("1 {row_1}")]);
            }
            _ => {
                family = of_1.split(' ').next().unwrap_or_default();
                lines.push(of_1.to_owned());
            }
        }
    }
    lines.join("\n")
}

#[test]
fn a_metric_is_the_same_where_only_what_it_names_was_sampled() {
    let host = host_of(HOST);
    let all_before = counters(&sample(0, BEFORE, BEFORE));
    let all_after = counters(&sample(2000, AFTER, AFTER));
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

#[test]
fn every_metric_has_its_value() {
    let values: Vec<String> = METRICS
        .iter()
        .map(|metric| {
            let text =
                measured_on(HOST, metric, &sample(0, BEFORE, BEFORE), &sample(2000, AFTER, AFTER));
            format!("{} = {}", metric.id, text.replace('\n', "; "))
        })
        .collect();
    assert_eq!(values.join("\n"), VALUES.trim());
}

#[test]
fn without_its_source_a_metric_has_a_reason() {
    for metric in METRICS {
        let source = metric.families.first().map_or("/proc/PID/schedstat", |it| it.source());
        assert_eq!(
            measured_on(HOST, metric, "at 0\n", "at 1000\n"),
            format!("{source} is not in this copy of the host"),
            "{}",
            metric.id
        );
    }
}

#[test]
fn a_count_that_goes_backwards_is_missing_on_its_cpu_alone() {
    // A temperature is no count; a thread whose time goes backwards is left out.
    const NO_COUNTS: &[&str] = &["temperature", "kernel-threads"];
    for metric in METRICS.iter().filter(|it| !NO_COUNTS.contains(&it.id)) {
        let forwards =
            measured_on(HOST, metric, &sample(0, BEFORE, BEFORE), &sample(2000, AFTER, AFTER));
        let back =
            measured_on(HOST, metric, &sample(0, AFTER, BEFORE), &sample(2000, BEFORE, AFTER));
        assert_eq!(back.lines().count(), forwards.lines().count(), "{back}");
        for (was, is) in forwards.lines().zip(back.lines()) {
            let row = was.split(": ").next().unwrap_or_default();
            // Where one counter of stolen time fell, the hypervisor may have set all of them.
            if row.ends_with('1') && metric.id != "steal" {
                assert_eq!(is, was, "{}", metric.id);
            } else {
                let is_back = is.starts_with(&format!("{row}: "))
                    && is.ends_with(", expected a counter that does not go backwards");
                assert!(is_back, "{}: {is}", metric.id);
            }
        }
    }
}
