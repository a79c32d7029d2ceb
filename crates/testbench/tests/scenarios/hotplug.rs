//! A CPU that goes offline and comes back while it is measured: what was counted of it is not the whole, and is not shown
//! as if it were.

use serde_json::Value;

use crate::boots::SOUND;

fn report_of(step: &str) -> Value {
    let output = SOUND.step(step).unwrap_or_else(|error| panic!("{error:#}"));
    serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("step '{step}' printed no report ({error}): {output:#?}"))
}

const REASON: &str = "CPU 1 was offline for part of the interval";

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn ticks_of_a_cpu_that_was_away_have_no_rate_and_those_of_another_have() {
    let report = report_of("ticks while a CPU is away");
    let of = |number: usize| &report["cpus"][number];
    assert!(of(0)["perf"]["count"].is_u64(), "{report:#}");
    assert_eq!(of(1)["cpu"], 1, "{report:#}");
    assert!(of(1)["per_second"].is_null(), "{report:#}");
    assert!(of(1)["perf"]["text"].as_str().is_some_and(|it| it.ends_with(REASON)), "{report:#}");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn ledger_leaves_a_cpu_out_that_was_away_and_says_so() {
    let ledger = report_of("ledger while a CPU is away");
    assert_eq!(ledger["cpus"], "0", "{ledger:#}");
    let notes = ledger["notes"].as_array().into_iter().flatten();
    let is_named = |it: &Value| it == "left out: CPUs 1 were offline for part of the interval";
    assert!(notes.into_iter().any(is_named), "{ledger:#}");
}
