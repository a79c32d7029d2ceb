//! What is said of two recordings.

use super::*;
use crate::document::Format;
use crate::json::Head;
use facts::client::ClientMetric;
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
        "At the same clock that is less work per cycle or more work per transaction; a recording does not tell which.",
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
