//! Journals of dead and of living runs.
#![expect(clippy::disallowed_methods, reason = "looks at the files that are left")]

use super::*;
use crate::doubt::Doubt;
use crate::store::fixture::{record, trial};

fn names(folder: &Path) -> Vec<String> {
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
    assert_eq!(names(folder.path()), ["x.json"]);
    assert!(sweep(folder.path()).is_empty());
}

#[test]
fn a_run_that_died_before_its_first_trial_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    drop(Journal::begin(folder.path(), &mut record(0)).unwrap());
    assert!(sweep(folder.path()).is_empty());
    assert_eq!(names(folder.path()), [""; 0]);
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
    assert_eq!(names(folder.path()), ["x.json"]);
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
    assert_eq!(names(folder.path()), ["empty.trials", "notes.trials"]);
}
