//! `fullclock audit --look`: a longer look at this machine, what it refuses, and what it says beforehand.

use crate::support::{fullclock, is_of};
use serde_json::Value;
use std::time::{Duration, Instant};

const TWO_GOVERNORS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/two-governors.host");

/// The exit code, standard output and standard error.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = fullclock(arguments).output().unwrap();
    let text = |it: Vec<u8>| String::from_utf8(it).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_copy_stands_still_and_is_refused_in_words() {
    let (code, text, errors) = run(&["audit", "--look", "2s", "--host", TWO_GOVERNORS]);
    assert_eq!((code, &*text), (2, ""));
    assert!(
        errors.contains("--look watches a running machine") && errors.contains("stand still"),
        "{errors}"
    );
}

#[test]
fn a_look_takes_50_ms_to_a_minute() {
    for time in ["49ms", "61s", "soon"] {
        let (code, _, errors) = run(&["audit", "--look", time]);
        assert_eq!(code, 2, "{time}");
        assert!(errors.contains("50ms to 60s") || errors.contains("is not a time"), "{errors}");
    }
}

#[test]
fn the_cost_is_said_beforehand_and_the_audit_follows() {
    let began = Instant::now();
    let (code, text, errors) = run(&["audit", "--json", "--look", "300ms"]);
    let audit: Value = serde_json::from_str(&text).unwrap();
    is_of(include_str!("../../../../schemas/audit-2.json"), &audit);
    assert_eq!(code, 0);
    match audit["look"]["seconds"].as_f64() {
        Some(seconds) => {
            assert!(errors.contains("looks for 300 ms: reads "), "{errors}");
            assert!(seconds >= 0.3 && began.elapsed() >= Duration::from_millis(300));
        }
        None => assert!(errors.contains("--look adds nothing"), "{errors}"),
    }
    // Without the option nobody looks for longer.
    let (_, text, _) = run(&["audit", "--json"]);
    assert!(serde_json::from_str::<Value>(&text).unwrap()["look"].is_null());
}
