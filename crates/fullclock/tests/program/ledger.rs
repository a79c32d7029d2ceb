//! `fullclock ledger`, as a user meets it: its books close, and it survives what users do.

use crate::support::{fullclock, is_of, nanoseconds, printed, refusal};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

#[test]
fn json_is_what_the_schema_says_and_its_lines_sum_to_the_capacity() {
    for arguments in [
        &["-d", "100ms"][..],
        &["-d", "100ms", "--trace", "never"],
        &["-d", "100ms", "--spin", "--cpus", "0"],
        &["-d", "100ms", "--pid", "1"],
    ] {
        let json = printed(&[&["ledger", "--json"], arguments].concat());
        let value: Value = serde_json::from_str(&json).unwrap();
        is_of(include_str!("../../../../schemas/ledger-2.json"), &value);
        let lines = value["lines"].as_array().unwrap().iter();
        let known = lines.map(|line| &line["time_s"]).filter(|it| !it.is_null());
        let known: i64 = known.map(nanoseconds).sum();
        let unexplained = nanoseconds(&value["unexplained"]["time_s"]);
        assert_eq!(known + unexplained, nanoseconds(&value["capacity_s"]), "{arguments:?}");
        assert!(value["capacity_s"].as_f64() > Some(0.05), "{arguments:?}");
    }
}

#[test]
fn the_time_of_a_command_is_useful_and_its_exit_code_is_passed_on() {
    let loop_and_fail = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exit 3";
    let arguments = ["ledger", "--json", "--", "sh", "-c", loop_and_fail];
    let output = fullclock(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let useful = |line: &&Value| line["loss"] == "useful" && line["part"] == "sh";
    assert!(value["lines"].as_array().unwrap().iter().any(|line| useful(&line)), "{value}");
}

#[test]
fn what_a_command_prints_stays_out_of_the_json() {
    let output = fullclock(&["ledger", "--json", "--", "echo", "hello"]).output().unwrap();
    assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok());
    assert!(String::from_utf8_lossy(&output.stderr).contains("hello"));
}

#[test]
fn rows_without_a_cpu_sum_to_the_capacity_and_no_output_of_a_command_stands_among_them() {
    let command = ["--", "sh", "-c", "echo hello; sleep 0.1"];
    let csv = printed(&[&["ledger", "--csv"], &command[..]].concat());
    assert!(csv.starts_with("loss,part,kind,cpu,time_s,share,") && !csv.contains("hello"), "{csv}");
    let rows = csv.lines().map(|it| it.split(',').collect::<Vec<_>>());
    let of_all = rows.filter(|it| it[3].is_empty());
    let known = of_all.filter_map(|it| it[5].parse::<f64>().ok());
    assert!((known.sum::<f64>() - 1.0).abs() < 1e-9, "{csv}");
}

#[test]
fn nonsense_is_refused_in_words() {
    assert!(refusal(&["ledger", "-d", "0"]).contains("--duration"));
    assert!(refusal(&["ledger", "-d", "10d"]).contains("longest 1d"));
    assert!(refusal(&["ledger", "--cpus", "4095"]).contains("only"));
    assert!(refusal(&["ledger", "--cpus", "x"]).contains("--cpus"));
    assert!(refusal(&["ledger", "--cpus", ""]).contains("--cpus"));
    assert!(refusal(&["ledger", "--pid", "4194305"]).contains("there is no process 4194305"));
    assert!(refusal(&["ledger", "--spin", "--", "true"]).contains("--spin"));
    assert!(refusal(&["ledger", "--root", "/"]).contains("a ledger measures this machine"));
    assert!(
        refusal(&["ledger", "--", "/nonexistent/program"])
            .contains("cannot run /nonexistent/program")
    );
}

#[test]
fn an_interrupted_ledger_prints_what_it_has() {
    let mut child =
        fullclock(&["ledger", "-d", "1h", "--cpus", "0", "--trace", "never", "--verbose"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    // It says when it begins to measure; a signal before that ends it as it ends any program.
    let mut talk = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    talk.read_line(&mut line).unwrap();
    assert!(line.contains("measuring"), "{line}");
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(text.contains("unexplained") && text.contains("capacity"), "{text}");
}
