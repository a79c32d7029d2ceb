//! Ticks that stop, ticks that stay and why, and the count beside perf's.

use serde_json::Value;
use testbench::Transcript;

use crate::boots::{FULL_RATE, HALF_ISOLATED, TICKS};

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
fn tick_that_two_tasks_keep_has_them_as_its_reason() {
    let cpu = cpu_1(&TICKS, "two tasks");
    assert_eq!(cpu["verdict"]["outcome"], "kept", "{cpu:#}");
    assert_eq!(reasons(&cpu).first(), Some(&"sched"), "{cpu:#}");
    let seen = cpu["verdict"]["reasons"][0]["seen"].to_string();
    assert!(seen.contains("sh["), "{cpu:#}");
}

/// Beside perf.
///
/// Two programs do not begin and end at one instant: perf runs around fullclock, and counts what comes while either starts and ends. So
/// perf also writes down when each tick came, and what came between fullclock's two readings has to be what fullclock counted, to the
/// interrupt.
mod sweep {
    use super::*;
    use crate::boots::TICKS_BESIDE_PERF;

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn tick_that_perf_record_keeps_has_perf_as_its_reason() {
        let cpu = cpu_1(&TICKS_BESIDE_PERF, "perf record");
        assert_eq!(cpu["verdict"]["outcome"], "kept", "{cpu:#}");
        assert_eq!(reasons(&cpu).first(), Some(&"perf_events"), "{cpu:#}");
        let seen = cpu["verdict"]["reasons"][0]["seen"].to_string();
        assert!(seen.contains("perf["), "{cpu:#}");
    }

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn ticks_are_counted_as_perf_counts_them_to_the_interrupt() {
        let output =
            TICKS_BESIDE_PERF.step("beside perf").unwrap_or_else(|error| panic!("{error:#}"));
        let rounds = rounds(&output.stderr);
        let cpus = all_of_cpu_1(&TICKS_BESIDE_PERF, "beside perf");
        assert_eq!((rounds.len(), cpus.len()), (3, 3), "{output:#?}");
        let mut n_judged = 0;
        for (round, cpu) in rounds.iter().zip(&cpus) {
            let number = |field: &str| cpu["perf"][field].as_u64().unwrap_or_default();
            let (ours, from_ns, to_ns) = (number("count"), number("from_ns"), number("to_ns"));
            let figures = format!("perf {}, ours {ours}, {cpu:#}, {round:?}", round.n_counted);
            assert!(
                round.n_counted >= ours && round.ticks_ns.len() as u64 >= round.n_counted,
                "{figures}"
            );
            let within = |from: u64, to: u64| {
                round.ticks_ns.iter().filter(|at| (from..to).contains(at)).count()
            };
            if within(from_ns, from_ns + READING_NS) + within(to_ns, to_ns + READING_NS) == 0 {
                n_judged += 1;
                assert_eq!(within(from_ns, to_ns) as u64, ours, "{figures}");
                assert!(ours > 25, "{figures}");
            }
        }
        assert!(n_judged >= 2, "{rounds:?}");
    }

    /// A count is read soon after the time that is told of it: a tick that comes in between may or may not be in it.
    const READING_NS: u64 = 2_000_000;

    /// What perf says of one round.
    #[derive(Debug, Default)]
    struct Round {
        /// By `perf stat`.
        n_counted: u64,
        /// When each tick came, by `perf record`, in nanoseconds of CLOCK_MONOTONIC_RAW.
        ticks_ns: Vec<u64>,
    }

    /// Each round begins with perf's count, `250,,irq_vectors:local_timer_entry,...`, and goes on with times, `12.345678901:`.
    fn rounds(text: &str) -> Vec<Round> {
        let mut rounds: Vec<Round> = Vec::new();
        for line in text.lines().map(str::trim) {
            let time = line.strip_suffix(':').and_then(|it| it.replace('.', "").parse().ok());
            let count = line.split_once(',').and_then(|(count, _)| count.parse().ok());
            match (count, time, rounds.last_mut()) {
                (Some(n_counted), ..) => rounds.push(Round { n_counted, ticks_ns: Vec::new() }),
                (None, Some(at_ns), Some(round)) => round.ticks_ns.push(at_ns),
                _ => {}
            }
        }
        rounds
    }
}
