//! Sensors of a management controller, beside ipmitool, and while the controller misbehaves.
#![expect(clippy::print_stdout, reason = "the times are to be read, not judged")]

use crate::boots::WITH_SENSORS;
use serde_json::Value;
use testbench::StepOutput;

/// How many sensors the bench's controller has at first.
const N_SENSORS: usize = 200;

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn values_and_states_are_those_of_ipmitool() {
    let (theirs, ours) = (step("ipmitool"), rounds("first"));
    let theirs: Vec<Vec<&str>> =
        theirs.stdout.lines().map(|line| line.split(',').collect()).collect();
    let ours = sensors(&ours[0]);
    assert_eq!((theirs.len(), ours.len()), (N_SENSORS, N_SENSORS));
    for (theirs, ours) in theirs.iter().zip(ours) {
        assert_eq!(theirs[0], ours["name"]);
        match ours["value"].as_f64() {
            Some(value) => {
                let n_decimals = theirs[1].split_once('.').map_or(0, |(_, it)| it.len());
                assert_eq!(theirs[1], format!("{value:.n_decimals$}"), "{ours:#}");
                let level = if theirs[3] == "cr" { "critical" } else { theirs[3] };
                assert_eq!(
                    (theirs[2].into(), level.into()),
                    (ours["unit"].clone(), ours["level"].clone())
                );
            }
            None => assert_eq!(theirs[4], ours["states"][0], "{ours:#}"),
        }
    }
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn records_are_fetched_once_and_then_a_reading_takes_a_question() {
    let (first, rounds) = (&rounds("first")[0], rounds("ten rounds"));
    assert_eq!((&first["records"]["are_kept"], rounds.len()), (&false.into(), 10), "{first:#}");
    for round in &rounds {
        assert_eq!(round["records"]["are_kept"], true);
        assert_eq!(sensors(round).len(), N_SENSORS);
    }
    let [(theirs_s, theirs), (_, first), (_, ten)] =
        ["ipmitool", "first", "ten rounds"].map(|it| cost(step(it)));
    let ours_s = rounds.iter().filter_map(|it| it["took_s"].as_f64()).sum::<f64>() / 10.0;
    println!(
        "ipmitool: {theirs_s:.2} s, {theirs} questions; a round {ours_s:.2} s, ten rounds {ten} questions"
    );
    // What else is asked: who it is, which records it has, and whether there are events.
    assert!(first <= 3 * N_SENSORS + 20 && ten <= 10 * (N_SENSORS + 10), "{first}, {ten}");
    assert!(theirs > 3 * N_SENSORS, "{theirs}");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn records_that_have_changed_are_fetched_again() {
    let changed = &rounds("changed")[0];
    assert_eq!(changed["records"]["why_fetched"], "they have changed since", "{changed:#}");
    assert_eq!(sensors(changed).len(), N_SENSORS + 1);
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn whatever_a_controller_does_is_told_and_the_next_good_round_is_as_before() {
    let (output, rounds) = (step("faults"), rounds("faults"));
    assert!(output.stderr.contains("ended with 0"), "{}", output.stderr);
    for (fault, told) in [
        ("hang", "took too long"),
        ("short", "expected"),
        ("long", "expected"),
        ("checksum", "took too long"),
        ("another", "completion code 0xff"),
        ("reset", "is starting"),
    ] {
        let during = &rounds[from(output, fault)..];
        let is_told = |round: &Value| round.to_string().contains(told);
        let position = during.iter().position(is_told);
        println!("{fault}: {}", position.map_or_else(String::new, |it| why(&during[it])));
        assert!(position.is_some_and(|it| it < 4), "{fault}: {position:?}");
    }
    let last = rounds.last().unwrap_or(&Value::Null);
    assert!(sensors(last).iter().all(|it| it["why_none"].is_null()), "{last:#}");
    assert_eq!(sensors(last).len(), N_SENSORS + 1);
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn events_are_told_from_the_log_and_as_they_come_and_a_flood_is_counted() {
    let (output, rounds) = (step("faults"), rounds("faults"));
    let (logged, sent) = (from(output, "logged"), from(output, "sent"));
    let events = |rounds: &[Value]| -> Vec<Value> {
        let events = rounds.iter().filter_map(|it| it["events"].as_array());
        events.flatten().cloned().collect()
    };
    assert_eq!(events(&rounds[..logged]), [] as [Value; 0]);
    let from_log = events(&rounds[logged..sent]);
    assert_eq!(from_log.len(), 1, "{from_log:#?}");
    assert_eq!(
        (&from_log[0]["of"], &from_log[0]["is_sent"]),
        (&"CPU Temp 1".into(), &false.into())
    );
    let from_controller = events(&rounds[sent..]);
    assert!(from_controller.iter().all(|it| it["is_sent"] == true), "{from_controller:#?}");
    let n_untold: u64 = rounds.iter().filter_map(|it| it["events_untold"].as_u64()).sum();
    println!("{} events told, {n_untold} more", from_controller.len());
    assert_eq!(from_controller.len() as u64 + n_untold, 200);
}

fn step(name: &str) -> &'static StepOutput {
    WITH_SENSORS.step(name).unwrap_or_else(|error| panic!("{error:#}"))
}

/// What it printed as JSON.
fn rounds(name: &str) -> Vec<Value> {
    let rounds = serde_json::Deserializer::from_str(&step(name).stdout).into_iter::<Value>();
    rounds.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}: {:#?}", step(name)))
}

fn sensors(round: &Value) -> &[Value] {
    round["sensors"].as_array().unwrap_or_else(|| panic!("no sensors: {round:#}"))
}

/// The first reason in it why something could not be read.
fn why(round: &Value) -> String {
    let sensors = round["sensors"].as_array().into_iter().flatten();
    let of_sensors = sensors.filter_map(|it| it["why_none"].as_str());
    round["error"].as_str().into_iter().chain(of_sensors).next().unwrap_or_default().to_owned()
}

/// The line of the step's notes that begins so.
fn note<'a>(output: &'a StepOutput, begin: &str) -> Vec<&'a str> {
    let line = output.stderr.lines().find(|it| it.starts_with(begin));
    line.unwrap_or_else(|| panic!("no '{begin}' in {output:#?}")).split(' ').collect()
}

/// The seconds and the questions that a command took.
fn cost(output: &StepOutput) -> (f64, usize) {
    let note = note(output, "cost ");
    let [began, ended] = [1, 2].map(|it| note[it].parse::<f64>().unwrap_or(f64::NAN));
    let questions = usize::from_str_radix(note[3], 16);
    (ended - began, questions.unwrap_or_else(|error| panic!("{error}: {note:?}")))
}

/// How many rounds there were when the step did that.
fn from(output: &StepOutput, what: &str) -> usize {
    let note = note(output, &format!("{what} from "));
    note[2].parse().unwrap_or_else(|error| panic!("{error}: {note:?}"))
}
