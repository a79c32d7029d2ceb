//! `fullclock noise`, as a user meets it: its causes sum to what was lost, and it survives what users do.

use crate::support::{fullclock, is_of, nanoseconds, printed, ran, refusal};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn json_is_what_the_schema_says_and_the_causes_sum_to_what_was_lost() {
    for arguments in [
        &["noise", "--json", "-d", "500ms"][..],
        &["noise", "--json", "-d", "500ms", "--cpus", "0", "--trace", "always"],
        &["noise", "--json", "-d", "500ms", "--trace", "never"],
    ] {
        let (code, text, errors) = ran(arguments);
        // Only who may trace can ask for it.
        if arguments.contains(&"always") && errors.contains("nothing can be traced") {
            continue;
        }
        assert_eq!(code, 0, "{errors}");
        let value: Value = serde_json::from_str(&text).unwrap();
        is_of(include_str!("../../../../schemas/noise-2.json"), &value);
        for cpu in value["cpus"].as_array().unwrap() {
            let ns = |list: &str| -> i64 {
                cpu[list].as_array().unwrap().iter().map(|it| nanoseconds(&it["time_s"])).sum()
            };
            let taken = nanoseconds(&cpu["lost_s"]) + nanoseconds(&cpu["own_s"]);
            assert_eq!(ns("causes"), taken, "{cpu:#}");
            if cpu["gaps_not_kept"] == 0 {
                assert_eq!(ns("histogram"), taken, "{cpu:#}");
            }
        }
    }
}

#[test]
fn csv_has_a_line_for_each_value_and_text_a_rank() {
    let csv = printed(&["noise", "--csv", "-d", "500ms", "--cpus", "0"]);
    assert!(csv.starts_with("cpu,row,name,from_ns,to_ns,count,ns,share,missing\n"), "{csv}");
    for row in ["\n0,watched,", "\n0,lost,", "\n0,percentile,", "\n0,longest,", "\n0,bucket,"] {
        assert!(csv.contains(row), "{csv}");
    }
    let text = printed(&["noise", "-d", "500ms", "--cpus", "0", "--trace", "never"]);
    assert!(text.contains("gaps/s") && text.contains("Nothing was traced"), "{text}");
}

#[test]
fn it_says_that_it_occupies_the_cpus() {
    let output = fullclock(&["noise", "-d", "500ms", "--cpus", "0"]).output().unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    assert!(talk.contains("occupies CPU 0 for 0.5 s"), "{talk}");
    let quiet = fullclock(&["noise", "-d", "500ms", "--cpus", "0", "--quiet"]).output().unwrap();
    assert!(quiet.stderr.is_empty());
}

#[test]
fn nonsense_is_refused_in_words() {
    assert!(refusal(&["noise", "-d", "0"]).contains("--duration"));
    assert!(refusal(&["noise", "--cpus", "4095"]).contains("only"));
    assert!(refusal(&["noise", "--cpus", ","]).contains("it names no CPU"));
    assert!(refusal(&["noise", "--csv", "--json"]).contains("cannot be used with"));
    assert!(refusal(&["noise", "--root", "/"]).contains("no copy of a host shows it"));
}

#[test]
fn an_interrupted_watch_prints_what_it_has() {
    let mut child =
        fullclock(&["noise", "-d", "1h", "--cpus", "0", "--trace", "never", "--verbose"])
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
