//! Counters of hosts that are written down, over intervals that are.

use super::*;
use crate::fixture::{XEON, counters, host_of};
use crate::watch::{KnownClocks, View};
use facts::tape::Sample;

const HEADS: &str = "Totals ctxt processes\n0 5000 1\nRunTime run wait\n";

/// Two CPUs at a time in milliseconds, each with its ticks.
fn sample(ms: u32, ticks: &[(u32, u64)]) -> Counters {
    let row = |(cpu, count): &(u32, u64)| format!("{cpu} {count}\n");
    let rows: String = ticks.iter().map(row).collect();
    let waits: String = ticks.iter().map(|it| format!("{} 9 {}000000\n", it.0, it.1)).collect();
    counters(&format!("at {ms}\nInterrupts LOC\n{rows}{HEADS}{waits}"))
}

fn added(totals: &mut Totals, host: &HostView, before: &Counters, after: &Counters) {
    let interval = Interval { host, before, after };
    let samples = [before, after].map(|it| Sample::from(it.clone()));
    let view = View::of_metrics(|_| false);
    let reading =
        Reading::between(host, &samples[0], &samples[1], None, &view, &KnownClocks::default());
    totals.add(&interval, &reading, None);
}

/// The sum of a part of a counter; `None` where nothing is known of it.
fn sum(totals: &Totals, name: &str, part: &str) -> Option<f64> {
    let mut counters = totals.counters();
    let (_, parts) = counters.find(|(counter, _)| counter.name == name)?;
    parts.get(part).map(|it| it.sum)
}

#[test]
fn counters_begin_with_what_the_kernel_has_counted_and_grow_by_what_it_counts() {
    let host = host_of(XEON);
    let first = sample(1000, &[(0, 250), (1, 100)]);
    let mut totals = Totals::since_boot(&host, &first, false);
    assert_eq!(sum(&totals, "ticks", ""), Some(350.0));
    assert_eq!(sum(&totals, "context_switches", ""), Some(5000.0));
    assert_eq!(sum(&totals, "run_queue_wait_seconds", ""), Some(0.35));
    assert_eq!(sum(&totals, "kernel_thread_cpu_seconds", "kworker"), None);
    let second = sample(2000, &[(0, 500), (1, 101)]);
    added(&mut totals, &host, &first, &second);
    assert_eq!(sum(&totals, "ticks", ""), Some(601.0));
    assert_eq!(sum(&totals, "context_switches", ""), Some(5000.0));
}

#[test]
fn a_cpu_that_goes_offline_takes_nothing_away_and_one_that_comes_back_adds_no_leap() {
    let host = host_of(XEON);
    let first = sample(1000, &[(0, 250), (1, 1_000_000)]);
    let mut totals = Totals::since_boot(&host, &first, true);
    let alone = sample(2000, &[(0, 350)]);
    added(&mut totals, &host, &first, &alone);
    assert_eq!(sum(&totals, "ticks", ""), Some(1_000_350.0));
    let both = sample(3000, &[(0, 450), (1, 1_000_007)]);
    added(&mut totals, &host, &alone, &both);
    assert_eq!(sum(&totals, "ticks", ""), Some(1_000_450.0));
    let (_, parts) = totals.counters().find(|it| it.0.name == "ticks").unwrap();
    assert_eq!(parts[""].cpus, BTreeMap::from([(0, 450.0), (1, 1_000_000.0)]));
}

#[test]
fn throttling_is_counted_once_a_core_and_package_and_smis_by_the_register() {
    let columns = "Throttling core_throttle_count package_throttle_count \
                   core_throttle_total_time_ms package_throttle_total_time_ms\n";
    let table = |ms: u32, count: u32| {
        let row = |cpu: u32| format!("{cpu} {count} 7 {count}00 900\n");
        let rows: String = (0..4).map(row).collect();
        counters(&format!("at {ms}\n{columns}{rows}"))
    };
    let smi = "//- /dev/cpu/0/msr 0x34\n0x1b\n//- /sys/devices/system/cpu/smt/control\noff\n";
    let host = host_of(&format!("{XEON}{smi}"));
    let first = table(1000, 3);
    let mut totals = Totals::since_boot(&host, &first, false);
    assert_eq!(sum(&totals, "throttle_events", "core"), Some(6.0));
    assert_eq!(sum(&totals, "throttle_events", "package"), Some(7.0));
    assert_eq!(sum(&totals, "throttle_seconds", "core"), Some(0.6));
    assert_eq!(sum(&totals, "throttle_seconds", "package"), Some(0.9));
    assert_eq!(sum(&totals, "smis", ""), Some(27.0));
    added(&mut totals, &host, &first, &table(2000, 4));
    assert_eq!(sum(&totals, "throttle_events", "core"), Some(8.0));
}

#[test]
fn an_smi_between_the_samples_of_two_cpus_is_counted_once() {
    let host = host_of("//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\n");
    let at = |ms: u32, counts: [u32; 2]| {
        let [first, second] = counts;
        counters(&format!("at {ms}\nClocks tsc smi\n0 9 {first}\n1 9 {second}\n"))
    };
    // It stops both CPUs, between their samples: CPU 1 counts it now, CPU 0 a second later.
    let samples = [at(0, [5, 5]), at(1000, [5, 6]), at(2000, [6, 6]), at(3000, [9, 8])];
    let mut totals = Totals::since_boot(&host, &samples[0], false);
    for (after, expected) in [(1, 1.0), (2, 1.0), (3, 4.0)] {
        added(&mut totals, &host, &samples[after - 1], &samples[after]);
        assert_eq!(sum(&totals, "smis", ""), Some(expected), "{after}");
    }
    let (_, parts) = totals.counters().find(|it| it.0.name == "smis").unwrap();
    assert_eq!(parts[""].cpus, BTreeMap::from([(0, 4.0), (1, 3.0)]));
}

#[test]
fn kernel_threads_are_counted_by_pool_and_stay_few() {
    let host = host_of(XEON);
    let threads = |ms: u32, run: u64| {
        let strange: String = (0..300)
            .map(|it| format!("task {} {0} odd{it}x kernel 0 {run} 0\n", 900 + it))
            .collect();
        counters(&format!(
            "at {ms}\ntask 8 8 kworker/0:1-events kernel 0 {run} 0\ntask 9 9 kworker/u8:2 kernel 1 {run} 0\n\
             task 30 30 kipmi0 kernel 1 {run} 0\n{strange}"
        ))
    };
    let first = threads(0, 0);
    let mut totals = Totals::since_boot(&host, &first, false);
    added(&mut totals, &host, &first, &threads(1000, 500_000_000));
    assert_eq!(sum(&totals, "kernel_thread_cpu_seconds", "kworker"), Some(1.0));
    assert_eq!(sum(&totals, "kernel_thread_cpu_seconds", "kipmi"), Some(0.5));
    let (_, parts) = totals.counters().find(|it| it.0.name.starts_with("kernel")).unwrap();
    assert!(parts.len() <= MOST_PARTS + 1, "{}", parts.len());
    let all: f64 = parts.values().map(|it| it.sum).sum();
    assert!((all - 151.5).abs() < 1e-6, "{all}");
}

#[test]
fn stolen_time_is_a_guests_and_cycles_are_counted_where_they_move() {
    let at = |ms: u32, steal: u32, cycles: u64| {
        counters(&format!(
            "at {ms}\nCpuTimes idle steal\n0 0 {steal}\n1 0 {steal}\nClocks tsc aperf mperf\n0 9 {cycles} 5\n"
        ))
    };
    let metal = host_of("//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\n");
    let guest = host_of("//- /sys/class/dmi/id/sys_vendor\nQEMU\n");
    let first = at(1000, 50, 100);
    assert_eq!(sum(&Totals::since_boot(&metal, &first, false), "steal_seconds", ""), None);
    let mut totals = Totals::since_boot(&guest, &first, false);
    assert_eq!(sum(&totals, "steal_seconds", ""), Some(1.0));
    assert_eq!(sum(&totals, "busy_cycles", ""), None);
    added(&mut totals, &guest, &first, &at(2000, 75, 400));
    assert_eq!(sum(&totals, "steal_seconds", ""), Some(1.5));
    assert_eq!(sum(&totals, "busy_cycles", ""), Some(300.0));
    assert_eq!(sum(&totals, "reference_cycles", ""), None);
}
