//! A history beside results: what it finds, and what becomes of a damaged one.
#![expect(clippy::disallowed_methods, reason = "damages files, and looks at what is left")]

use super::*;
use crate::doubt::Doubt;
use crate::store::fixture::{record, trial};
use crate::store::{Journal, read};
use std::os::unix::fs::PermissionsExt as _;

fn keep(folder: &Path, id: &str, began: &str, workload: &str) -> (Record, PathBuf) {
    let mut record = record(6);
    (record.id, record.began) = (id.to_owned(), began.to_owned());
    workload.clone_into(&mut record.arms[0].workload);
    let path = Journal::begin(folder, &mut record).unwrap().finish(&record).unwrap();
    (record, path)
}

/// Three results: the second is the latest.
fn three() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    keep(folder.path(), "20-a", "2026-11-20T10:00:00Z", "cpu-loop");
    keep(folder.path(), "21-b", "2026-11-21T10:00:00Z", "cpu-loop-x");
    keep(folder.path(), "20-c", "2026-11-20T11:00:00Z", "memory");
    folder
}

fn ids(history: &History, workload: Option<&str>, limit: usize) -> String {
    let entries = history.list(workload, limit).unwrap();
    entries.iter().map(|it| it.id.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_latest_come_first_and_a_workload_is_chosen_by_its_whole_name() {
    let folder = three();
    let history = History::open(folder.path()).unwrap();
    assert_eq!(ids(&history, None, 9), "21-b 20-c 20-a");
    assert_eq!(ids(&history, None, 2), "21-b 20-c");
    assert_eq!(ids(&history, Some("cpu-loop"), 9), "20-a");
    assert_eq!(ids(&history, Some("' OR 1 --"), 9), "");
}

#[test]
fn an_entry_says_what_its_result_came_to() {
    let folder = three();
    let entry = History::open(folder.path()).unwrap().find("21-b").unwrap();
    let figure = entry.arms[0].figure.as_ref().unwrap();
    assert_eq!(
        (figure.name.as_str(), figure.unit.as_str(), entry.arms[0].trials),
        ("elapsed", "s", 6)
    );
    assert!((figure.median - 3.5 / 3.0).abs() < 1e-12, "{figure:?}");
    assert!(figure.interval.unwrap().contains(figure.typical), "{figure:?}");
    assert_eq!(figure.confidence, 0.99);
    assert_eq!(read(&entry.path).unwrap().began, entry.began);
}

#[test]
fn a_result_is_found_by_the_beginning_of_its_id_where_that_is_one_result_only() {
    let folder = three();
    let history = History::open(folder.path()).unwrap();
    let found = |id: &str| history.find(id).map_or_else(|why| why.to_string(), |it| it.id);
    assert_eq!(found("21"), "21-b");
    assert_eq!(found("20-a"), "20-a");
    assert_eq!(found("20"), r#""20" begins the ids of 2 results: 20-a, 20-c"#);
    assert_eq!(
        found("%"),
        r#"no result's id is "%" or begins like that; `fullclock history` lists them"#
    );
}

#[test]
fn a_damaged_an_old_and_a_missing_index_are_made_anew() {
    let folder = three();
    let index = folder.path().join(INDEX);
    let history = || History::open(folder.path()).unwrap();
    assert_eq!(ids(&history(), None, 9), "21-b 20-c 20-a");
    assert_eq!(std::fs::metadata(&index).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::write(
        &index,
        "this is no database, and long enough to be looked at as one ".repeat(40),
    )
    .unwrap();
    assert_eq!(ids(&history(), None, 9), "21-b 20-c 20-a");
    let older = rusqlite::Connection::open(&index).unwrap();
    older
        .execute_batch("PRAGMA user_version = 77; DROP TABLE results; CREATE TABLE results (a)")
        .unwrap();
    drop(older);
    assert_eq!(ids(&history(), None, 9), "21-b 20-c 20-a");
    std::fs::remove_file(&index).unwrap();
    assert_eq!(ids(&history(), None, 9), "21-b 20-c 20-a");
    assert_eq!(ids(&History::rebuild(folder.path()).unwrap(), None, 9), "21-b 20-c 20-a");
}

#[test]
fn an_index_that_is_damaged_behind_its_beginning_is_made_anew() {
    let folder = three();
    let index = folder.path().join(INDEX);
    drop(History::open(folder.path()).unwrap());
    let mut bytes = std::fs::read(&index).unwrap();
    bytes[4096..].fill(0xa5);
    std::fs::write(&index, &bytes).unwrap();
    let history = History::open(folder.path()).unwrap();
    assert_eq!(ids(&history, None, 9), "21-b 20-c 20-a");
    assert_ne!(std::fs::read(&index).unwrap(), bytes);
}

#[test]
fn a_locked_index_hides_no_result() {
    let folder = three();
    drop(History::open(folder.path()).unwrap());
    let other = rusqlite::Connection::open(folder.path().join(INDEX)).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let (record, path) = keep(folder.path(), "22-d", "2026-11-22T10:00:00Z", "memory");
    assert!(History::add(&record, &path).is_err());
    assert_eq!(ids(&History::open(folder.path()).unwrap(), None, 9), "22-d 21-b 20-c 20-a");
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(ids(&History::open(folder.path()).unwrap(), None, 9), "22-d 21-b 20-c 20-a");
}

#[test]
fn a_result_is_added_once_and_gone_when_its_file_is() {
    let folder = three();
    let (record, path) = keep(folder.path(), "22-d", "2026-11-22T10:00:00Z", "memory");
    History::add(&record, &path).unwrap();
    let history = History::open(folder.path()).unwrap();
    assert_eq!(ids(&history, None, 9), "22-d 21-b 20-c 20-a");
    history.remove(&history.find("22").unwrap()).unwrap();
    assert!(!path.exists());
    assert_eq!(ids(&history, None, 9), "21-b 20-c 20-a");
    std::fs::remove_file(folder.path().join("20-c.json")).unwrap();
    assert_eq!(ids(&History::open(folder.path()).unwrap(), None, 9), "21-b 20-a");
}

#[test]
fn a_file_that_is_no_result_is_named_and_hides_no_other() {
    let folder = three();
    std::fs::write(folder.path().join("notes.json"), r#"{"format": 9}"#).unwrap();
    let history = History::open(folder.path()).unwrap();
    assert_eq!(ids(&history, None, 9), "21-b 20-c 20-a");
    assert!(history.unreadable()[0].to_string().contains("notes.json: was written by a later"));
    let why = history.find("notes").unwrap_err().to_string();
    assert!(why.contains("notes.json: was written by a later"), "{why}");
}

#[test]
fn a_result_with_doubts_of_an_older_version_is_listed_without_them() {
    let folder = three();
    let path = folder.path().join("20-a.json");
    let mut file: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    file["doubts"] = serde_json::json!([
        { "doubt": "outliers", "trials": 1, "of": 20 },
        { "arm": "A", "doubt": "warming", "trials": 2 },
        { "doubt": "unpinned" },
    ]);
    std::fs::write(&path, file.to_string()).unwrap();
    let entry = History::open(folder.path()).unwrap().find("20-a").unwrap();
    assert_eq!(entry.doubts, [Doubt::Unpinned.into()]);
}

#[test]
fn looking_at_a_folder_that_does_not_exist_makes_none() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent");
    assert_eq!(ids(&History::open(&absent).unwrap(), None, 9), "");
    assert!(!absent.exists());
}

#[test]
fn a_history_in_memory_leaves_nothing_and_learns_what_came_and_what_went() {
    let folder = three();
    let mut history = History::open_in_memory(folder.path()).unwrap();
    assert_eq!(ids(&history, None, 9), "21-b 20-c 20-a");
    keep(folder.path(), "22-d", "2026-11-22T10:00:00Z", "memory");
    std::fs::remove_file(folder.path().join("20-a.json")).unwrap();
    std::fs::write(folder.path().join("23-e.json"), "{").unwrap();
    history.catch_up_with_folder().unwrap();
    assert_eq!(ids(&history, None, 9), "22-d 21-b 20-c");
    assert_eq!(history.unreadable().len(), 1);
    history.catch_up_with_folder().unwrap();
    assert_eq!(history.unreadable().len(), 1);
    assert!(!folder.path().join(INDEX).exists());
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_journal_of_a_living_run_is_left_alone_and_that_of_a_dead_one_is_a_result_cut_short() {
    let folder = tempfile::tempdir().unwrap();
    let mut written = record(0);
    let mut journal = Journal::begin(folder.path(), &mut written).unwrap();
    written.trials.push(trial(1));
    journal.add(&written).unwrap();
    assert!(sweep(folder.path()).is_empty());
    drop(journal);
    let swept = sweep(folder.path());
    let result = read(swept[0].as_ref().unwrap()).unwrap();
    assert_eq!(result.trials, written.trials);
    assert!(!result.is_complete && result.doubts.contains(&Doubt::CutShort.into()), "{result:?}");
    assert_eq!(names_in(folder.path()), ["x.json"]);
    assert!(sweep(folder.path()).is_empty());
}

#[test]
fn a_run_that_died_before_its_first_trial_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    drop(Journal::begin(folder.path(), &mut record(0)).unwrap());
    assert!(sweep(folder.path()).is_empty());
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn a_complete_result_outlives_the_journal_that_was_left_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut whole = record(2);
    whole.is_complete = true;
    let text = serde_json::to_string(&whole).unwrap();
    std::fs::write(folder.path().join("x.json"), &text).unwrap();
    std::fs::write(folder.path().join("x.trials"), &text).unwrap();
    assert!(sweep(folder.path()).is_empty());
    assert_eq!(names_in(folder.path()), ["x.json"]);
    assert_eq!(read(&folder.path().join("x.json")).unwrap(), whole);
}

#[test]
fn what_is_no_journal_stays_where_it_is_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.trials"), "elapsed 12.4 s\n").unwrap();
    std::fs::write(folder.path().join("empty.trials"), "").unwrap();
    let swept = sweep(folder.path());
    assert_eq!(swept.len(), 1);
    assert!(swept[0].as_ref().unwrap_err().to_string().contains("notes.trials"));
    assert_eq!(names_in(folder.path()), ["empty.trials", "notes.trials"]);
}
