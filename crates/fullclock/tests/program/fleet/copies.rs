//! Fleets of files, and what differs between two of them.

use crate::support::{fullclock, is_of, printed, refusal};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

const SCHEMA: &str = include_str!("../../../../../schemas/diff-1.json");

/// A capture of two CPUs with this governor and BIOS.
fn capture(governor: &str, bios: &str) -> String {
    let policy = |cpu: u32| {
        let policy = format!("/sys/devices/system/cpu/cpufreq/policy{cpu}");
        format!(
            "//- {policy}/affected_cpus\n{cpu}\n//- {policy}/scaling_driver\nacpi-cpufreq\n\
             //- {policy}/scaling_governor\n{governor}\n"
        )
    };
    let policies: String = (0..2).map(policy).collect();
    format!(
        "fullclock capture 1\n//- /sys/devices/system/cpu/online\n0-1\n\
         //- /sys/class/dmi/id/bios_version\n{bios}\n\
         //- /sys/devices/system/cpu/cpufreq/\npolicy0\npolicy1\n{policies}"
    )
}

fn kept(files: &[(&str, String)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn two() -> TempDir {
    kept(&[("a.host", capture("powersave", "1.0")), ("b.host", capture("performance", "1.1"))])
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

/// What `diff` exits with and prints.
fn diff(arguments: &[&str]) -> (Option<i32>, String) {
    let output = fullclock(&[&["diff"], arguments].concat()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn what_differs_is_listed_and_the_exit_code_says_so() {
    let folder = two();
    let [a, b] = ["a.host", "b.host"].map(|it| path(folder.path(), it));
    let (code, said) = diff(&[&a, &b]);
    assert_eq!(code, Some(1), "{said}");
    for words in ["BIOS", "1.0", "1.1", "slow-governor", "`fullclock plan slow-governor`"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let (code, said) = diff(&[&a, &a]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Nothing differs"), "{said}");
}

#[test]
fn json_of_a_difference_is_what_the_schema_says() {
    let folder = two();
    let [a, b] = ["a.host", "b.host"].map(|it| path(folder.path(), it));
    let (_, text) = diff(&["--json", &a, &b]);
    let value: Value = serde_json::from_str(&text).unwrap();
    is_of(SCHEMA, &value);
    let found = value["differences"].as_array().unwrap();
    assert!(found.iter().any(|it| it["name"] == "bios_version" && it["b"] == "1.1"), "{text}");
}

#[test]
fn an_audit_in_json_and_a_live_machine_are_compared_too() {
    let folder = two();
    let a = path(folder.path(), "a.host");
    let audit = path(folder.path(), "a.json");
    printed(&["audit", "--host", &a, "-o", &audit]);
    let (code, said) = diff(&[&audit, &path(folder.path(), "b.host")]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("slow-governor"), "{said}");
    let (code, said) = diff(&["live", "-"]);
    // A running machine may change between two looks.
    assert!(matches!(code, Some(0 | 1)), "{said}");
    assert!(said.contains("fullclock diff"), "{said}");
}

#[test]
fn what_is_no_machine_is_refused() {
    let folder = kept(&[("notes", "what I saw\n".to_owned())]);
    let notes = path(folder.path(), "notes");
    assert!(refusal(&["diff", &notes, "live"]).contains("notes"));
    assert!(refusal(&["diff", "/nowhere", "live"]).contains("/nowhere"));
}

#[test]
fn a_folder_of_captures_is_a_fleet_that_is_too_small_to_judge() {
    let folder = two();
    let said = printed(&["fleet", folder.path().to_str().unwrap()]);
    assert!(said.contains("2 machines of"), "{said}");
    assert!(said.contains("can be judged"), "{said}");
}
