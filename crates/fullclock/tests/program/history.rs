//! `fullclock history` as a user meets it.

use crate::support::{fullclock, is_of, printed, refusal, without_began};
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

/// The results in a list, each at the beginning of a line.
fn ids(listed: &str) -> Vec<&str> {
    let words = listed.lines().filter_map(|it| it.split(' ').next());
    words.filter(|it| it.starts_with("20-")).collect()
}

#[test]
fn results_are_listed_and_a_killed_run_is_one_that_was_cut_short() {
    let folder = kept();
    let listed = stdout(folder.path(), &[]);
    assert_eq!(ids(&listed), ["20-k", "20-b", "20-a"], "{listed}");
    let killed = listed.lines().find(|it| it.starts_with("20-k")).unwrap();
    assert!(killed.contains("timer") && killed.contains("  doubts: cut short, "), "{killed}");
    assert!(!folder.path().join("20-k.trials").exists());
    assert_eq!(ids(&stdout(folder.path(), &["--workload", "memory", "-n", "9"])), ["20-b"]);
}

#[test]
fn a_result_is_shown_by_the_beginning_of_its_id_with_its_machine() {
    let folder = kept();
    let shown = stdout(folder.path(), &["show", "20-a"]);
    assert!(shown.contains("elapsed 2.000 s, from 1 trial\n"), "{shown}");
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
fn a_list_and_a_result_are_markdown_a_page_and_rows() {
    let folder = kept();
    let list = |format: &str| stdout(folder.path(), &["--format", format]);
    assert!(list("markdown").starts_with("# fullclock history\n"), "{}", list("markdown"));
    assert!(list("markdown").contains("| 20-a | cpu-loop | 1 | 2.000 s |"), "{}", list("markdown"));
    assert!(list("html").starts_with("<!DOCTYPE html>") && list("html").contains("20-a"));
    assert_eq!(without_began(&list("json")), without_began(&stdout(folder.path(), &["--json"])));
    let rows = list("csv");
    assert!(rows.starts_with("result,began,variant,workload,command,trials,"), "{rows}");
    assert_eq!(rows.lines().count(), 4, "{rows}");
    let show = |format: &str| stdout(folder.path(), &["show", "20-a", "--format", format]);
    assert!(
        show("markdown").contains("| scaling\\_governor | performance |"),
        "{}",
        show("markdown")
    );
    assert!(show("html").contains("<h1>fullclock bench of cpu-loop"));
    let trials = show("csv");
    assert!(
        trials.lines().nth(1).unwrap().starts_with("1,1,A,cpu-loop,0,2,,elapsed,2,s,"),
        "{trials}"
    );
}

#[test]
fn a_command_that_was_measured_is_named_in_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let line = lines("20-c", "command", TRIAL);
    let settings = r#""settings":{"cpus":"1","command":["./query-v2","a b"]}"#;
    let line = line.replace(r#""settings":{"cpus":"1"}"#, settings);
    std::fs::write(folder.path().join("20-c.json"), line).unwrap();
    assert!(stdout(folder.path(), &[]).contains("./query-v2 'a b'"));
    assert!(stdout(folder.path(), &["--format", "csv"]).contains(",./query-v2 'a b',"));
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
    assert_eq!(ids(&stdout(folder.path(), &[])).len(), 3);
}

#[test]
fn options_without_a_meaning_are_refused() {
    let folder = kept();
    assert!(refusal(&history(folder.path(), &["--root", "/"])).contains("--results FOLDER"));
}
