//! Management controllers that cost CPU time, and the time that they take to answer.
//!
//! Times are the emulator's: of those that are printed, only what the controller's own delay bounds is asked.
#![expect(clippy::print_stdout, reason = "the times are to be read, not judged")]

use crate::audit::Audit;
use crate::boots::{HALF_ISOLATED, MISSPELT, SOUND, TICKLESS};
use serde_json::Value;
use testbench::Transcript;

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn controller_without_interrupt_is_found_and_one_with_is_not() {
    Audit::of(&HALF_ISOLATED, "as booted").expect("ipmi-without-interrupt");
    Audit::of(&SOUND, "performance").expect_silent("ipmi-without-interrupt");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn thread_that_waits_for_a_slow_controller_is_found_and_none_is_with_an_interrupt() {
    let idle = polling_nanoseconds(&Audit::of(&TICKLESS, "statistics every minute"));
    let busy = polling_nanoseconds(&Audit::of(&TICKLESS, "busy BMC"));
    assert!(busy > 5 * idle, "questions to the BMC cost {busy} ns after {idle} ns");
    Audit::of(&SOUND, "performance").expect_silent("kipmid-busy");
    let busy = Audit::of(&TICKLESS, "busy BMC");
    let chain = busy.expect_one_chain(&["ipmi-without-interrupt", "kipmid-busy"]);
    assert_eq!(
        (&chain["lost"], &chain["party"]),
        (&"time".into(), &"management controller".into())
    );
}

/// What `kipmid-busy` shows as the thread's run time; zero if it is not found.
fn polling_nanoseconds(audit: &Audit) -> u64 {
    let findings = audit.findings("kipmid-busy");
    let evidence = findings.iter().filter_map(|finding| finding["evidence"].as_array()).flatten();
    evidence
        .filter(|one| one["source"].as_str().is_some_and(|path| path.ends_with("/schedstat")))
        .filter_map(|one| one["value"].as_str()?.parse::<u64>().ok())
        .sum()
}

/// What [`testbench::machines::tickless`] gives its controller to think about every answer, in milliseconds.
const DELAY_MS: f64 = 20.0;

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn no_round_trip_is_shorter_than_the_controller_thinks_and_a_limit_spares_the_cpu() {
    let results = results(&TICKLESS);
    let [unlimited, limited, again] = &results[..] else { panic!("{results:#?}") };
    for trial in results.iter().flat_map(trials) {
        println!("{trial:?}");
        for figure in ["device id", "device id p90", "record", "record p90"] {
            assert!(trial.figure(figure) >= Some(DELAY_MS), "{figure}: {trial:?}");
        }
    }
    let (spared, spun) = (mean_share(&[limited]), mean_share(&[unlimited, again]));
    // It is a fifth; a host that is too busy for its guest makes every look at the controller a long one.
    assert!(spared > 0.0 && spared < spun * 0.75, "{spared} % with a limit, {spun} % without");
    assert_eq!(about(unlimited, "sensor records"), "whole, with one question each");
    assert_eq!(about(unlimited, "kipmid"), "kipmi0, as the scheduler accounts it");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn every_round_trip_is_shown_with_and_without_load() {
    let output = TICKLESS.step("latency").unwrap_or_else(|error| panic!("{error:#}"));
    let latency: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:#?}"));
    println!("{latency:#}");
    let conditions = latency["conditions"].as_array().map_or(&[][..], |it| it);
    let [idle, busy] = conditions else { panic!("{latency:#}") };
    assert_eq!((&idle["every_cpu_busy"], &busy["every_cpu_busy"]), (&false.into(), &true.into()));
    for (condition, asked) in
        conditions.iter().flat_map(|it| [(it, "device_id"), (it, "sensor_record")])
    {
        let trips = &condition[asked];
        assert_eq!(trips["count"], 5, "{latency:#}");
        assert!(trips["p50_s"].as_f64() >= Some(DELAY_MS / 1e3), "{asked}: {condition:#}");
        let in_buckets = trips["histogram"].as_array().into_iter().flatten();
        assert_eq!(in_buckets.filter_map(|it| it["count"].as_u64()).sum::<u64>(), 5);
    }
    assert!(idle["kipmid_cpu_s"].as_f64() > Some(0.0), "{latency:#}");
    // A wait begins and ends within the time between two looks, of which only the mean is known here, and single ones are longer.
    let waits = &idle["waits"];
    let pause_ms = waits["pause_s"].as_f64().unwrap_or(f64::NAN) * 1e3;
    let middle_ms = waits["lengths"]["p50_s"].as_f64().unwrap_or(f64::NAN) * 1e3;
    assert!(middle_ms >= DELAY_MS - 3.0 * pause_ms, "{latency:#}");
    assert_eq!((&waits["looks_lost"], &idle["waits_missing"]), (&0.into(), &Value::Null));
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn controller_with_an_interrupt_is_asked_too_and_has_no_thread_that_polls() {
    let results = results(&SOUND);
    let [result] = &results[..] else { panic!("{results:#?}") };
    for trial in trials(result) {
        println!("{trial:?}");
        assert!(trial.figure("device id") > Some(0.0) && trial.figure("record") > Some(0.0));
        assert_eq!(trial.figure("kipmid share"), None, "{trial:?}");
    }
    assert!(about(result, "kipmid").starts_with("none: no thread"), "{result:#}");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn machine_without_a_controller_is_told_which_drivers_make_a_device_of_one() {
    let output = MISSPELT.step("round trips").unwrap_or_else(|error| panic!("{error:#}"));
    assert_ne!(output.status, 0, "{output:#?}");
    let words = output.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in ["/dev/ipmi0", "modprobe -a ipmi_si ipmi_devintf", "this is a guest of"] {
        assert!(words.contains(expected), "{expected}: {output:#?}");
    }
}

/// What each `fullclock bench` of the step printed.
fn results(transcript: &Transcript) -> Vec<Value> {
    let output = transcript.step("round trips").unwrap_or_else(|error| panic!("{error:#}"));
    let results = serde_json::Deserializer::from_str(&output.stdout).into_iter::<Value>();
    results.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}: {output:#?}"))
}

/// The figures of one trial.
#[derive(Debug)]
struct Trial(Vec<(String, f64)>);

impl Trial {
    fn figure(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(figure, _)| figure == name).map(|(_, value)| *value)
    }
}

fn trials(result: &Value) -> Vec<Trial> {
    let trials = result["trials"].as_array().unwrap_or_else(|| panic!("no trials: {result:#}"));
    let figures = |trial: &Value| {
        let figures = trial["figures"].as_array().into_iter().flatten();
        let named = figures.filter_map(|it| Some((it["name"].as_str()?, it["value"].as_f64()?)));
        Trial(named.map(|(name, value)| (name.to_owned(), value)).collect())
    };
    trials.iter().map(figures).collect()
}

/// What kipmi0 took of a CPU in all trials of these, in percent.
fn mean_share(results: &[&Value]) -> f64 {
    let trials: Vec<Trial> = results.iter().copied().flat_map(trials).collect();
    let share = |trial: &Trial| {
        trial.figure("kipmid share").unwrap_or_else(|| panic!("no share in {trial:?}"))
    };
    trials.iter().map(share).sum::<f64>() / trials.len() as f64
}

/// What the only arm says of itself under that name.
fn about(result: &Value, name: &str) -> String {
    let about = result["arms"][0]["about"].as_array().into_iter().flatten();
    let found = about.into_iter().find(|it| it[0] == name).and_then(|it| it[1].as_str());
    found.unwrap_or_else(|| panic!("no '{name}' in {result:#}")).to_owned()
}
