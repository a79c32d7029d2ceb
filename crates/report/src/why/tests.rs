//! What is said of two recordings.

use super::*;
use crate::document::Format;
use crate::json::Head;
use facts::Missing;
use facts::client::ClientMetric;
use facts::probe::{LoadReading, LoadTime};
use lab::why::{Lines, Recording, Second, Task, why};
use rules::spans::Who;

/// 30 seconds of two CPUs.
fn recording(number: f64, server: f64, intruder: f64) -> Recording {
    let second = |at: u32| {
        let noise = 1.0 + f64::from(at * 7 % 11) / 1000.0;
        let task = |who, name: &str, run_s| Task { who, name: name.to_owned(), run_s, wait_s: 0.1 };
        Second {
            elapsed_s: 1.0,
            capacity_s: 2.0,
            client: Ok(number * noise),
            tasks: Ok(vec![
                task(Who::Client, "tclsh", 0.2),
                task(Who::Server, "PostgreSQL backend", server),
                task(Who::Other, "gzip", intruder),
            ]),
            lines: Lines {
                idle: Ok(1.8 - server - intruder),
                quota: Ok(0.0),
                stolen: Ok(0.0),
                slow: Ok(0.01),
            },
            loads: Vec::new(),
        }
    };
    let metric = ClientMetric { client: "hammerdb".to_owned(), unit: "tpm".to_owned() };
    Recording {
        seconds: (0..30).map(second).collect(),
        metric: Some(metric),
        every_s: 1.0,
        has_command: true,
    }
}

fn texts(a: &Recording, b: &Recording) -> (String, serde_json::Value) {
    let why = why(a, b).unwrap();
    let report = Report { names: ["a.tape", "b.tape"], why: &why, notes: &[] };
    let text = document(&report).render(Format::Markdown);
    let head = Head { host: "b.tape".to_owned(), began: "2026-11-20T00:00:00Z".to_owned() };
    (text, serde_json::from_str(&json::json(&head, &report).unwrap()).unwrap())
}

#[test]
fn a_third_fewer_transactions_with_equal_ledgers_are_the_cost_of_each() {
    let (text, json) = texts(&recording(61_035.0, 1.2, 0.0), &recording(43_391.0, 1.2, 0.0));
    for part in [
        "B does 28.9",
        "fewer tpm than A (99 % interval ",
        ": 43,611 against 61,344",
        "CPU time per transaction explains all of it: 1.369 ms in A and 1.926 ms in B, most of the change in `PostgreSQL backend`",
        "At the same clock that is less work per cycle or more work per transaction; whether loads took longer was not measured in both.",
        "| load from memory | unknown | unknown |",
        "| CPU time per transaction: client tclsh |",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(json["rate"]["is"], "claimed");
    assert_eq!(
        (&json["causes"][0]["what"], json["causes"].as_array().unwrap().len()),
        (&"cost".into(), 1)
    );
    assert_eq!(json["causes"][0]["name"], "PostgreSQL backend");
}

#[test]
fn an_intruder_is_named_with_what_it_took_of_both() {
    let (text, json) = texts(&recording(60_000.0, 1.2, 0.0), &recording(30_000.0, 0.5, 1.0));
    let part = "Other tasks, `gzip`, explain more than all of it";
    assert!(text.contains(part) && text.contains("took 0.0 % in A and 50.0 % in B"), "{text}");
    assert_eq!(json["causes"][0]["name"], "gzip");
}

#[test]
fn equal_runs_have_no_cause_and_those_that_wait_are_told_for_what() {
    let (text, json) = texts(&recording(60_000.0, 1.2, 0.0), &recording(60_000.0, 1.2, 0.0));
    assert!(text.contains("No difference shown: B does ") && !text.contains("explains"), "{text}");
    assert_eq!(json["causes"], serde_json::json!([]));
    let (text, _) = texts(&recording(60_000.0, 1.2, 0.0), &recording(30_000.0, 0.5, 0.0));
    assert!(
        text.contains("Waiting explains all of it: CPUs were idle 30.0 % in A and 65.0 % in B."),
        "{text}"
    );
    assert!(text.contains("so it was for something else: log, locks, network"), "{text}");
}

/// A run of so many tpm in which loads take as long as that, in nanoseconds.
fn loaded(number: f64, memory: f64, last_level: f64) -> Recording {
    let mut recording = recording(number, 1.2, 0.0);
    for (at, second) in (0..).zip(&mut recording.seconds) {
        let time = |ns: f64| {
            let ps = (ns * 1e3 * (1.0 + f64::from(at * 7 % 11) / 1000.0)) as u64;
            LoadTime { best_ps: ps, typical_ps: ps }
        };
        let cpu = 0;
        let (memory, last_level) = (Ok(time(memory)), Ok(time(last_level)));
        second.loads = vec![LoadReading { cpu, memory, last_level, at_ns: 0, took_ns: 1 }];
    }
    recording
}

#[test]
fn the_time_of_loads_is_told_of_dearer_work_without_a_claim_of_its_cause() {
    let a = loaded(61_035.0, 95.0, 20.0);
    let (text, json) = texts(&a, &loaded(43_391.0, 140.0, 20.0));
    for part in [
        "more work per transaction; loads from memory took 47.4 % longer in B, too (99.5 % interval 4",
        " %): a neighbour, or this workload's own accesses.",
        "| load from memory | 95.5 ns | 140.7 ns | +47.4 % |",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(json["memory_load"]["verdict"]["is"], "claimed");
    let (text, json) = texts(&a, &loaded(43_391.0, 95.2, 20.0));
    let alike = "; loads from memory and the last-level cache took as long in both (within 10 %), so neither explains it.";
    assert!(text.contains(alike), "{text}");
    assert!(json["values"].as_array().unwrap().iter().all(|it| it["quantity"] != "load"));
    let mut once = loaded(43_391.0, 140.0, 20.0);
    once.seconds.iter_mut().skip(1).for_each(|it| it.loads.clear());
    let (text, _) = texts(&a, &once);
    assert!(text.contains("the time of loads does not decide"), "{text}");
    assert!(text.contains("in B, of too few readings"), "{text}");
}

#[test]
fn a_kind_of_load_that_cannot_be_timed_is_left_out_of_the_sentence() {
    let without = |mut recording: Recording| {
        for reading in recording.seconds.iter_mut().flat_map(|it| &mut it.loads) {
            reading.last_level = Err(Missing::not_here("a load", "sysfs shows no such cache"));
        }
        recording
    };
    let [a, b] = [61_035.0, 43_391.0].map(|it| without(loaded(it, 95.0, 20.0)));
    let (text, json) = texts(&a, &b);
    assert!(text.contains("the time of loads does not decide: a load from memory"), "{text}");
    assert!(!text.contains("a load from the last-level cache"), "{text}");
    assert!(json["last_level_load"]["missing"].is_object(), "{json}");
}
