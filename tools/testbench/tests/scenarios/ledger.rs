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
fn time_of_a_thread_that_polls_the_controller_is_what_perf_sees() {
    let step = report_of(&TICKLESS, "ledger of a busy BMC");
    let ledger = &step["ledger"];
    let line = line(ledger, "kernel-threads", "kipmi0");
    // perf knows of no interrupts; the ledger has lines of their own for those that came while the thread ran.
    let had_the_cpu = number(&line["time_s"]) + number(&line["interrupted_s"]);
    let found = had_the_cpu / number(&ledger["wall_s"]) * 100.0;
    let window_s = number(&step["after"]["uptime_s"]) - number(&step["before"]["uptime_s"]);
    let percent = |seconds: f64| seconds / window_s * 100.0;
    let ran = percent(number(&step["perf"]["ran_s"]));
    assert!(ran > 5.0, "the controller kept nobody busy: {ran:.2} % of {window_s} s");
    assert!((found - ran).abs() < SLACK, "perf says {ran:.2} %, the ledger {found:.2} %");

    // The scheduler begins a task's time before it switches to it: where a wake-up is why it switches, it takes the
    // clock of that wake-up (rq_clock_skip_update, kernel/sched/core.c). That is a microsecond on a processor and a
    // tenth of a millisecond here, some thousand times a second.
    let counted_ns = number(&step["after"]["ran_ns"]) - number(&step["before"]["ran_ns"]);
    let counted = percent(counted_ns / 1e9);
    let range = ran - SLACK..=ran + percent(number(&step["perf"]["on_the_way_s"])) + SLACK;
    assert!(range.contains(&counted), "the scheduler counts {counted:.2} %, perf {range:?}");

    let explained = line["findings"].as_array().into_iter().flatten();
    assert!(explained.into_iter().any(|it| it["check"] == "kipmid-busy"), "{line:#}");
}

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
    let is_sure = number(&line["time_s"]) > number(&line["uncertainty_s"]);
    let findings = line["findings"].as_array().into_iter().flatten();
    let is_explained = findings.into_iter().any(|it| it["check"] == "slow-governor");
    assert_eq!(is_explained, is_sure, "{line:#}");
}

/// What a step printed, as JSON.
pub(crate) fn report_of(transcript: &Transcript, step: &str) -> Value {
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
pub(crate) fn line<'a>(ledger: &'a Value, loss: &str, part: &str) -> &'a Value {
    let found = lines(ledger, loss).into_iter().find(|line| line["part"] == part);
    found.unwrap_or_else(|| panic!("no '{loss}' of '{part}' in {ledger:#}"))
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}
