//! A CPU that goes offline and comes back while it is measured: what was counted of it ends there, and nobody makes a rate of
//! the rest.

use serde_json::Value;

use crate::boots::HALF_ISOLATED;

/// Why there is no figure of it.
const WHY: &str = "CPU 1 was offline for part of the interval";

/// What one command said of the time in which CPU 1 was away.
fn said_by(command: &str) -> Value {
    let output = HALF_ISOLATED.step("CPU 1 away").unwrap_or_else(|error| panic!("{error:#}"));
    let said: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:#?}"));
    said[command].clone()
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn cpu_that_was_offline_meanwhile_is_left_out_of_the_ledger_and_named() {
    let ledger = said_by("ledger");
    assert_eq!(ledger["cpus"], "0", "{ledger:#}");
    assert_eq!(ledger["capacity_s"], ledger["wall_s"], "{ledger:#}");
    let notes = ledger["notes"].to_string();
    assert!(notes.contains("left out: CPU 1 was offline for part of the interval"), "{notes}");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn cpu_that_was_offline_meanwhile_has_no_rate_of_ticks() {
    let tick = said_by("tick");
    let cpu_1 = &tick["cpus"][1];
    assert_eq!(cpu_1["cpu"], 1, "{tick:#}");
    assert_eq!(cpu_1["per_second"], Value::Null, "{tick:#}");
    assert!(cpu_1["perf"]["text"].as_str().is_some_and(|it| it.contains(WHY)), "{tick:#}");
    assert!(tick["cpus"][0]["per_second"].as_f64().is_some_and(|it| it > 0.0), "{tick:#}");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn cpu_that_was_offline_meanwhile_is_left_out_of_the_ledger_of_a_watch() {
    let watch = said_by("watch");
    let notes = watch["ledger"]["notes"].to_string();
    assert!(notes.contains("left out: CPU 1 was offline for part of the interval"), "{watch:#}");
}
