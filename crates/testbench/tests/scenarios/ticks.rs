//! Ticks that stop, ticks that stay and why, and the count beside perf's.
//!
//! Two programs do not begin and end at one instant. perf runs around fullclock and may never count less; and where
//! the CPU was left alone while both began and while both ended, only what the opening and reading of counters itself brings
//! about may come in between: a reading wakes an idle CPU, and its timer may go off once more.

use serde_json::Value;
use testbench::Transcript;

use crate::boots::{HALF_ISOLATED, TICKS};

/// CONFIG_HZ of Debian's kernels.
const FULL_RATE: f64 = 250.0;

/// What `fullclock tick --json` said of CPU 1, each time that the step ran it.
fn all_of_cpu_1(transcript: &Transcript, step: &str) -> Vec<Value> {
    let output = transcript.step(step).unwrap_or_else(|error| panic!("{error:#}"));
    let reports = serde_json::Deserializer::from_str(&output.stdout).into_iter::<Value>();
    let cpu_1 = |report: serde_json::Result<Value>| {
        let report = report.unwrap_or_else(|error| panic!("step '{step}': {error}: {output:#?}"));
        let found = report["cpus"].as_array().and_then(|it| it.iter().find(|it| it["cpu"] == 1));
        found.cloned().unwrap_or_else(|| panic!("{step}: no CPU 1 in {report:#}"))
    };
    reports.map(cpu_1).collect()
}

fn cpu_1(transcript: &Transcript, step: &str) -> Value {
    all_of_cpu_1(transcript, step).pop().unwrap_or_else(|| panic!("{step}: no report"))
}

fn reasons(cpu: &Value) -> Vec<&str> {
    let reasons = cpu["verdict"]["reasons"].as_array();
    reasons.into_iter().flatten().filter_map(|it| it["dependency"].as_str()).collect()
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn ticks_are_counted_as_perf_counts_them_but_for_the_one_of_reading() {
    let output = TICKS.step("beside perf").unwrap_or_else(|error| panic!("{error:#}"));
    // `250,,irq_vectors:local_timer_entry,...`
    let count = |line: &str| line.split(',').next().and_then(|it| it.parse::<u64>().ok());
    let by_perf: Vec<u64> = output.stderr.lines().filter_map(count).collect();
    let cpus = all_of_cpu_1(&TICKS, "beside perf");
    let number = |cpu: &Value, field: &str| cpu[field]["count"].as_u64().unwrap_or_default();
    let rounds: Vec<_> = cpus
        .iter()
        .zip(by_perf)
        .map(|(cpu, perf)| (perf, number(cpu, "perf"), number(cpu, "interrupts")))
        .collect();
    assert_eq!(rounds.len(), 3, "{output:#?}");
    assert!(rounds.iter().all(|it| it.0 >= it.1 && it.1 >= it.2), "{rounds:?}");
    // A host that has no time for its guest may leave all ticks of a round to before or after.
    let agrees = |it: &&(u64, u64, u64)| it.1 > 25 && it.0 - it.1 <= 1 && it.1 - it.2 <= 1;
    assert!(rounds.iter().filter(agrees).count() >= 2, "(perf, ours, LOC): {rounds:?}");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn tick_of_a_tickless_cpu_with_one_task_stops() {
    let cpu = cpu_1(&TICKS, "one task");
    assert_eq!(cpu["verdict"]["outcome"], "stopped", "{cpu:#}");
    assert!(cpu["per_second"].as_f64().is_some_and(|it| it <= 2.0), "{cpu:#}");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn tick_of_an_isolated_cpu_outside_of_nohz_full_runs_at_full_rate() {
    let cpu = cpu_1(&HALF_ISOLATED, "one task");
    assert_eq!(cpu["role"], "isolated", "{cpu:#}");
    assert_eq!(cpu["verdict"]["outcome"], "kept", "{cpu:#}");
    // An emulated CPU that its host does not run misses ticks, and gets none that it should not.
    let near = 0.4 * FULL_RATE..=1.05 * FULL_RATE;
    assert!(cpu["per_second"].as_f64().is_some_and(|it| near.contains(&it)), "{cpu:#}");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn tick_that_perf_record_keeps_has_perf_as_its_reason() {
    let cpu = cpu_1(&TICKS, "perf record");
    assert_eq!(cpu["verdict"]["outcome"], "kept", "{cpu:#}");
    assert_eq!(reasons(&cpu).first(), Some(&"perf_events"), "{cpu:#}");
    let seen = cpu["verdict"]["reasons"][0]["seen"].to_string();
    assert!(seen.contains("perf["), "{cpu:#}");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn tick_that_two_tasks_keep_has_them_as_its_reason() {
    let cpu = cpu_1(&TICKS, "two tasks");
    assert_eq!(cpu["verdict"]["outcome"], "kept", "{cpu:#}");
    assert_eq!(reasons(&cpu).first(), Some(&"sched"), "{cpu:#}");
    let seen = cpu["verdict"]["reasons"][0]["seen"].to_string();
    assert!(seen.contains("sh["), "{cpu:#}");
}
