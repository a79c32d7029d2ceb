//! `fullclock history` as a user meets it.

use crate::support::{fullclock, is_of, printed, refusal};
use std::path::Path;
use tempfile::TempDir;

/// The arguments that ask for the history of what `folder` keeps.
fn history<'a>(folder: &'a Path, arguments: &[&'a str]) -> Vec<&'a str> {
    [&["history"], arguments, &["--results", folder.to_str().unwrap()]].concat()
}

fn stdout(folder: &Path, arguments: &[&str]) -> String {
    printed(&history(folder, arguments))
}

fn stderr(folder: &Path, arguments: &[&str]) -> String {
    let output = fullclock(&history(folder, arguments)).output().unwrap();
    String::from_utf8(output.stderr).unwrap()
}

/// A result with two trials, as bench writes it: its first line, and a line for each trial.
fn lines(id: &str, workload: &str, trials: &str) -> String {
    format!(
        r#"{{"format":1,"id":"{id}","version":"0.1.0","began":"2026-11-20T15:43:05Z","arms":[{{"name":"A","workload":"{workload}","settings":{{"cpus":"1"}},"about":[]}}],"machine":{{"scaling_governor":"performance"}},"trials":[{trials}],"doubts":[],"is_complete":true}}"#
    ) + "\n"
}

const TRIAL: &str = r#"{"number":1,"arm":0,"block":1,"began_ns":0,"elapsed_ns":2000000000,"cpu_ns":2000000000,"tasks":1,"figures":[{"name":"elapsed","unit":"s","value":2.0,"better":"lower"}],"clock":{"missing":"nobody looked"},"surroundings":{"cpus":"1","window_ns":1,"ledger":[],"unexplained":0.0,"metrics":[]}}"#;

/// Two results, and the journal of a run that was killed.
fn kept() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("20-a.json", lines("20-a", "cpu-loop", TRIAL));
    write("20-b.json", lines("20-b", "memory", TRIAL));
    write("20-k.trials", lines("20-k", "timer", "") + TRIAL + "\n" + &TRIAL[..40]);
    folder
}

/// What lines begin with; a list of doubts goes on below the first line.
fn ids(listed: &str) -> Vec<&str> {
    listed.lines().filter_map(|it| it.split(' ').next()).filter(|it| !it.is_empty()).collect()
}

#[test]
fn results_are_listed_and_a_killed_run_is_one_that_was_cut_short() {
    let folder = kept();
    let listed = stdout(folder.path(), &[]);
    assert_eq!(ids(&listed), ["result", "20-k", "20-b", "20-a"], "{listed}");
    let killed = listed.lines().nth(1).unwrap();
    assert!(killed.contains("timer") && killed.contains("  cut short, "), "{killed}");
    assert!(!folder.path().join("20-k.trials").exists());
    assert_eq!(stdout(folder.path(), &["--workload", "memory", "-n", "9"]).lines().count(), 2);
}

#[test]
fn a_result_is_shown_by_the_beginning_of_its_id_with_its_machine() {
    let folder = kept();
    let shown = stdout(folder.path(), &["show", "20-a"]);
    assert!(shown.contains("elapsed     2.000 s, min"), "{shown}");
    assert!(shown.contains("scaling_governor  performance"), "{shown}");
    let json: serde_json::Value =
        serde_json::from_str(&stdout(folder.path(), &["show", "20-b", "--json"])).unwrap();
    assert_eq!(json["result"]["arms"][0]["figure"]["median"], 2.0);
    assert_eq!(json["machine"]["scaling_governor"], "performance");
}

#[test]
fn json_is_what_the_schema_says() {
    let folder = kept();
    for arguments in [&["--json"][..], &["show", "20-k", "--json"], &["remove", "20-a", "--json"]] {
        let value = serde_json::from_str(&stdout(folder.path(), arguments)).unwrap();
        is_of(include_str!("../../../../schemas/history-2.json"), &value);
    }
}

#[test]
fn an_id_that_names_several_or_none_is_an_error_that_says_which() {
    let folder = kept();
    assert_eq!(
        refusal(&history(folder.path(), &["show", "20"])),
        "fullclock: \"20\" begins the ids of 3 results: 20-a, 20-b, 20-k\n"
    );
    assert!(refusal(&history(folder.path(), &["remove", "x"])).contains("\"x\""));
}

#[test]
fn a_removed_result_is_gone_and_a_rebuilt_history_holds_the_others() {
    let folder = kept();
    assert!(stdout(folder.path(), &["remove", "20-a"]).starts_with("removed "));
    assert!(!folder.path().join("20-a.json").exists());
    std::fs::write(folder.path().join("history.sqlite"), "no database").unwrap();
    let rebuilt: serde_json::Value =
        serde_json::from_str(&stdout(folder.path(), &["rebuild", "--json"])).unwrap();
    let ids = rebuilt["results"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap());
    assert_eq!(ids.collect::<Vec<_>>(), ["20-k", "20-b"]);
}

#[test]
fn a_file_of_a_later_version_is_named_and_hides_nothing() {
    let folder = kept();
    std::fs::write(folder.path().join("later.json"), r#"{"format":9}"#).unwrap();
    assert!(stderr(folder.path(), &[]).contains("later.json: was written by a later version"));
    assert_eq!(ids(&stdout(folder.path(), &[])).len(), 4);
}

#[test]
fn options_without_a_meaning_are_refused() {
    let folder = kept();
    assert!(refusal(&history(folder.path(), &["--root", "/"])).contains("--results FOLDER"));
}
