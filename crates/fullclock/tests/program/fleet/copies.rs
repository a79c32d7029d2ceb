//! Fleets of files, and what differs between two of them.

use crate::support::{fullclock, is_of, printed, refusal, unwrapped};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

const SCHEMA: &str = include_str!("../../../../../schemas/diff-1.json");
const FLEET_SCHEMA: &str = include_str!("../../../../../schemas/fleet-1.json");

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
    assert!(said.contains("the clock of busy CPUs is unknown."), "{said}");
    assert!(unwrapped(&said).contains("take captures while the machines work"), "{said}");
}

#[test]
fn a_file_that_is_named_twice_is_one_machine_and_foreign_json_is_called_so() {
    let folder = two();
    let [folder_path, a] = ["", "a.host"].map(|it| path(folder.path(), it));
    let said = printed(&["fleet", &folder_path, &a]);
    assert!(said.starts_with("fullclock fleet: 2 machines of 2 paths"), "{said}");
    assert!(said.contains("1 file was named twice: it counts once"), "{said}");
    let foreign = kept(&[("b.json", "{\"a\": 1}".to_owned())]);
    let said = refusal(&["fleet", foreign.path().to_str().unwrap()]);
    assert!(said.contains("b.json: it is neither an audit (`fullclock audit --json`)"), "{said}");
}

/// A capture of an idle machine: no CPU of it was busy, so that no clock of it is known.
fn idle(governor: &str, bios: &str, microcode: &str) -> String {
    let model = "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nmodel name : Xeon 6130\nstepping : 7";
    let cpu = |cpu: u32| format!("processor : {cpu}\n{model}\nmicrocode : {microcode}\n");
    let cpus: Vec<String> = (0..2).map(cpu).collect();
    format!("{}//- /proc/cpuinfo\n{}", capture(governor, bios), cpus.join("\n"))
}

/// So many twins, of which three have another governor, two another BIOS, and one another microcode; all of that is one machine's from 10 on.
/// Asserts that each is named with its hosts, and that none is said to be slow.
fn differences_are_named(n: usize) {
    let name = |at: usize| format!("db{at:04}.host");
    let twin = |at: usize| {
        let governor = if (10..13).contains(&at) { "powersave" } else { "performance" };
        let bios = if (20..22).contains(&at) { "1.0" } else { "1.1" };
        (name(at), idle(governor, bios, if at == 30 { "0x1" } else { "0x2" }))
    };
    let twins: Vec<(String, String)> = (0..n).map(twin).collect();
    let twins: Vec<(&str, String)> = twins.iter().map(|it| (&*it.0, it.1.clone())).collect();
    let folder = kept(&twins);
    let of = |options: &[&str]| {
        printed(&[&["fleet", folder.path().to_str().unwrap()], options].concat())
    };
    let value: Value = serde_json::from_str(&of(&["--json"])).unwrap();
    is_of(FLEET_SCHEMA, &value);
    for accused in ["slow", "suspects", "explanations"] {
        assert_eq!(value[accused], json!([]), "{value:#}");
    }
    assert_eq!(value["silent"].as_array().unwrap().len(), n);
    let names = |it: std::ops::Range<usize>| json!(it.map(name).collect::<Vec<_>>());
    let found = value["minorities"].as_array().unwrap();
    let machines: Vec<&Value> = found.iter().map(|it| &it["machines"]).collect();
    assert_eq!(machines, [&names(10..13), &names(30..31), &names(20..22)], "{value:#}");
    for (at, name, has, usual) in [
        (0, "governor", "powersave", "performance"),
        (1, "microcode", "0x1", "0x2"),
        (2, "bios_version", "1.0", "1.1"),
    ] {
        let all = found[at]["unusual"].as_array().unwrap();
        let is = |it: &&Value| it["name"] == name && it["value"] == has && it["usual"] == usual;
        assert!(all.iter().any(|it| is(&it)), "{name}: {value:#}");
    }
    let said = unwrapped(&of(&[]));
    assert!(said.contains("6 machines have something that few peers have"), "{said}");
    assert!(said.contains("No clock to compare: what differs"), "{said}");
    assert!(said.contains("3 of ") && said.contains("db0010.host, db0011.host, db0012"), "{said}");
    assert!(said.contains("`fullclock plan slow-governor`"), "{said}");
    assert!(!said.contains("slower than") && !said.contains("Slow machines"), "{said}");
    for format in ["markdown", "html"] {
        assert!(of(&["--format", format]).contains("BIOS 1.0"), "{format}");
    }
}

#[test]
fn what_few_idle_twins_have_is_named_with_its_hosts_and_none_is_slow() {
    differences_are_named(200);
}

#[test]
#[ignore = "2,000 captures; `cargo xtask sweep` runs it"]
fn what_few_of_2_000_idle_twins_have_is_named() {
    differences_are_named(2_000);
}
