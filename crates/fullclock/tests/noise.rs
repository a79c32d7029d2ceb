//! `fullclock noise`, as a user meets it: its causes sum to what was lost, and it survives what users do.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which allow-unwrap-in-tests does not reach"
)]
#![expect(clippy::disallowed_methods, reason = "runs the binary")]

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fullclock"));
    command.arg("noise").args(arguments).stdin(Stdio::null());
    command
}

fn noise(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    String::from_utf8(noise(arguments).stdout).unwrap()
}

fn refusal(arguments: &[&str]) -> String {
    let output = noise(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn json_is_what_the_schema_says_and_the_causes_sum_to_what_was_lost() {
    let schema = include_str!("../../../schemas/noise-1.json");
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    for arguments in [
        &["--json", "-d", "500ms"][..],
        &["--json", "-d", "500ms", "--cpus", "0", "--trace", "always"],
        &["--json", "-d", "500ms", "--trace", "never"],
    ] {
        let value: Value = serde_json::from_str(&stdout(arguments)).unwrap();
        let errors: Vec<String> = validator.iter_errors(&value).map(|it| it.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{arguments:?}");
        for cpu in value["cpus"].as_array().unwrap() {
            let ns = |list: &str| -> u64 {
                cpu[list].as_array().unwrap().iter().map(|it| it["ns"].as_u64().unwrap()).sum()
            };
            let taken = cpu["lost_ns"].as_u64().unwrap() + cpu["own_ns"].as_u64().unwrap();
            assert_eq!(ns("causes"), taken, "{cpu:#}");
            if cpu["gaps_not_kept"] == 0 {
                assert_eq!(ns("histogram"), taken, "{cpu:#}");
            }
        }
    }
}

#[test]
fn csv_has_a_line_for_each_value_and_text_a_rank() {
    let csv = stdout(&["--csv", "-d", "500ms", "--cpus", "0"]);
    assert!(csv.starts_with("cpu,row,name,from_ns,to_ns,count,ns,share,missing\n"), "{csv}");
    for row in ["\n0,watched,", "\n0,lost,", "\n0,percentile,", "\n0,longest,", "\n0,bucket,"] {
        assert!(csv.contains(row), "{csv}");
    }
    let text = stdout(&["-d", "500ms", "--cpus", "0", "--trace", "never"]);
    assert!(text.contains("gaps/s") && text.contains("Nothing was traced"), "{text}");
}

#[test]
fn it_says_that_it_occupies_the_cpus() {
    let output = noise(&["-d", "500ms", "--cpus", "0"]);
    let talk = String::from_utf8(output.stderr).unwrap();
    assert!(talk.contains("occupies CPU 0 for 0.5 s"), "{talk}");
    assert!(noise(&["-d", "500ms", "--cpus", "0", "--quiet"]).stderr.is_empty());
}

#[test]
fn nonsense_is_refused_in_words() {
    assert!(refusal(&["-d", "0"]).contains("--duration"));
    assert!(refusal(&["--cpus", "4095"]).contains("only"));
    assert!(refusal(&["--cpus", ","]).contains("it names no CPU"));
    assert!(refusal(&["--csv", "--json"]).contains("two formats"));
    assert!(refusal(&["--root", "/"]).contains("no copy of a host shows it"));
}

#[test]
fn an_interrupted_watch_prints_what_it_has() {
    let mut child = command(&["-d", "1h", "--cpus", "0", "--trace", "never", "--verbose"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut talk = BufReader::new(child.stderr.take().unwrap()).lines();
    // It says when it begins to measure; a signal before that ends it as it ends any program.
    assert!(talk.any(|line| line.unwrap().contains("measuring")));
    // What is interrupted before its first reading has nothing to print.
    std::thread::sleep(Duration::from_secs(1));
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(text.contains("Gaps by length"), "{text}");
}
