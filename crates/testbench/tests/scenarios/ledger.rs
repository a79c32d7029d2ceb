//! Where the ledger says that time went, for thefts that only a machine of the bench can commit.
//!
//! The bench's CPUs are emulated and never slow down: a clock that is set low costs nothing here. So the bench proves
//! that the ledger names who asked for a low clock, and not how much that takes; the size of the line is the
//! emulator's.

use serde_json::Value;
use testbench::Transcript;

use crate::boots::{SOUND, TICKLESS};

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn time_of_a_thread_that_polls_the_controller_is_what_the_scheduler_counts() {
    let step = report_of(&TICKLESS, "ledger of a busy BMC");
    let ledger = &step["ledger"];
    let line = line(ledger, "kernel-threads", "kipmi0");
    let found = percent(&line["ns"], &ledger["wall_ns"]);
    let interrupts: f64 = INTERRUPTS
        .iter()
        .flat_map(|loss| lines(ledger, loss))
        .map(|line| percent(&line["ns"], &ledger["wall_ns"]))
        .sum();
    let ran = number(&step["after"]["ran_ns"]) - number(&step["before"]["ran_ns"]);
    let lasted = number(&step["after"]["uptime_s"]) - number(&step["before"]["uptime_s"]);
    let truth = ran / (lasted * 1e9) * 100.0;
    assert!(truth > 5.0, "the controller kept nobody busy: {truth:.2} % of {lasted} s");
    // The scheduler counts the interrupts that come while a thread runs as the thread's; the ledger has lines of their
    // own for them. The scheduler is asked within the time that the ledger measures, so both are a little off.
    let range = found - SLACK..=found + interrupts + SLACK;
    assert!(range.contains(&truth), "the scheduler says {truth:.2} %, the ledger {range:?}");
    let explained = line["findings"].as_array().into_iter().flatten();
    assert!(explained.into_iter().any(|it| it["check"] == "kipmid-busy"), "{line:#}");
}

/// Lines of what comes while a thread runs.
const INTERRUPTS: [&str; 3] = ["ticks", "interrupts", "softirqs"];

/// In percent of a CPU.
const SLACK: f64 = 1.0;

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn governor_that_was_told_to_be_slow_is_named_beside_the_clock() {
    let ledger = report_of(&SOUND, "ledger of one CPU at 1600 MHz");
    let lines = lines(&ledger, "slow-clock");
    let line = lines.iter().find(|line| line["part"] == "governor userspace");
    let line = line.unwrap_or_else(|| panic!("the governor is not named: {ledger:#}"));
    assert_eq!(line["party"], "operating system", "{line:#}");
    // The emulated clock is the host's, and may be as good as its best: then there is no loss for a finding to explain.
    let is_sure = number(&line["ns"]) > number(&line["uncertainty_ns"]);
    let findings = line["findings"].as_array().into_iter().flatten();
    let is_explained = findings.into_iter().any(|it| it["check"] == "slow-governor");
    assert_eq!(is_explained, is_sure, "{line:#}");
}

/// What a step printed, as JSON.
fn report_of(transcript: &Transcript, step: &str) -> Value {
    let output = transcript.step(step).unwrap_or_else(|error| panic!("{error:#}"));
    serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("step '{step}' printed no report ({error}): {output:#?}"))
}

/// The lines of one loss.
fn lines<'a>(ledger: &'a Value, loss: &str) -> Vec<&'a Value> {
    let all = ledger["lines"].as_array().unwrap_or_else(|| panic!("no lines in {ledger:#}"));
    all.iter().filter(|line| line["loss"] == loss).collect()
}

/// The line of one part of a loss.
fn line<'a>(ledger: &'a Value, loss: &str, part: &str) -> &'a Value {
    let found = lines(ledger, loss).into_iter().find(|line| line["part"] == part);
    found.unwrap_or_else(|| panic!("no '{loss}' of '{part}' in {ledger:#}"))
}

fn percent(part: &Value, whole: &Value) -> f64 {
    number(part) / number(whole) * 100.0
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}
