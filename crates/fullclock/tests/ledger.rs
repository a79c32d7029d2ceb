//! `fullclock ledger`, as a user meets it: its books close, and it survives what users do.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which allow-unwrap-in-tests does not reach"
)]
#![expect(clippy::disallowed_methods, reason = "runs the binary")]

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fullclock"));
    command.arg("ledger").args(arguments).stdin(Stdio::null());
    command
}

fn ledger(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = ledger(&[&["--json"], arguments].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refusal(arguments: &[&str]) -> String {
    let output = ledger(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn json_is_what_the_schema_says_and_its_lines_sum_to_the_capacity() {
    let schema = include_str!("../../../schemas/ledger-1.json");
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    for arguments in [
        &["-d", "100ms"][..],
        &["-d", "100ms", "--trace", "never"],
        &["-d", "100ms", "--spin", "--cpus", "0"],
        &["-d", "100ms", "--pid", "1"],
    ] {
        let value = json(arguments);
        let errors: Vec<String> = validator.iter_errors(&value).map(|it| it.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{arguments:?}");
        let lines = value["lines"].as_array().unwrap().iter();
        let known: i64 = lines.filter_map(|line| line["ns"].as_i64()).sum();
        let unexplained = value["unexplained"]["ns"].as_i64().unwrap();
        assert_eq!(known + unexplained, value["capacity_ns"].as_i64().unwrap(), "{arguments:?}");
        assert!(value["capacity_ns"].as_i64().unwrap() > 50_000_000, "{arguments:?}");
    }
}

#[test]
fn the_time_of_a_command_is_useful_and_its_exit_code_is_passed_on() {
    let arguments =
        ["--json", "--", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exit 3"];
    let output = ledger(&arguments);
    assert_eq!(output.status.code(), Some(3));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let useful = |line: &&Value| line["loss"] == "useful" && line["part"] == "sh";
    assert!(value["lines"].as_array().unwrap().iter().any(|line| useful(&line)), "{value}");
}

#[test]
fn what_a_command_prints_stays_out_of_the_json() {
    let output = ledger(&["--json", "--", "echo", "hello"]);
    assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok());
    assert!(String::from_utf8_lossy(&output.stderr).contains("hello"));
}

#[test]
fn nonsense_is_refused_in_words() {
    assert!(refusal(&["-d", "0"]).contains("--duration"));
    assert!(refusal(&["-d", "10d"]).contains("longest 1d"));
    assert!(refusal(&["--cpus", "4095"]).contains("only"));
    assert!(refusal(&["--cpus", "x"]).contains("--cpus"));
    assert!(refusal(&["--cpus", ""]).contains("--cpus"));
    assert!(refusal(&["--pid", "4194305"]).contains("there is no process 4194305"));
    assert!(refusal(&["--spin", "--", "true"]).contains("--spin"));
    assert!(refusal(&["--root", "/"]).contains("measures the machine it runs on"));
    assert!(refusal(&["--", "/nonexistent/program"]).contains("cannot run /nonexistent/program"));
}

#[test]
fn an_interrupted_ledger_prints_what_it_has() {
    let mut child = command(&["-d", "1h", "--cpus", "0", "--trace", "never", "--verbose"])
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
