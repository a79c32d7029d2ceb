//! `fullclock audit --look`: a longer look at this machine, what it refuses, and what it says beforehand.

use crate::support::{TWO_GOVERNORS, is_of, ran};
use serde_json::Value;
use std::time::{Duration, Instant};

#[test]
fn a_copy_stands_still_and_is_refused_in_words() {
    let (code, text, errors) = ran(&["audit", "--look", "2s", "--host", TWO_GOVERNORS]);
    assert_eq!((code, &*text), (2, ""));
    assert!(
        errors.contains("--look watches a running machine") && errors.contains("stand still"),
        "{errors}"
    );
}

#[test]
fn a_look_takes_50_ms_to_a_minute() {
    for time in ["49ms", "61s", "soon"] {
        let (code, _, errors) = ran(&["audit", "--look", time]);
        assert_eq!(code, 2, "{time}");
        assert!(errors.contains("50ms to 60s") || errors.contains("is not a time"), "{errors}");
    }
}

#[test]
fn the_cost_is_said_beforehand_and_the_audit_follows() {
    let began = Instant::now();
    let (code, text, errors) = ran(&["audit", "--json", "--look", "300ms"]);
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
    let (_, text, _) = ran(&["audit", "--json"]);
    assert!(serde_json::from_str::<Value>(&text).unwrap()["look"].is_null());
}
