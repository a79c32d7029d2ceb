//! What a guard makes of the journal and of the lock, without a process of its own.

use super::*;
use crate::change::Intent;
use crate::change::tree::{STAT_INTERVAL, Tree, stat_interval};
use rustix::fs::{Mode, chmod};

/// A change that awaits confirmation, and its guard.
fn guarded(tree: &Tree, within: Duration) -> Guarding {
    let mut changer = tree.changer();
    let mut change = changer.begin(Intent::default()).unwrap();
    change.confirm_without_guard(within);
    change.apply(&stat_interval()).unwrap();
    change.keep().unwrap();
    let mut guarding = Guarding::of(&tree.state(), Some("0001")).unwrap();
    guarding.load_and_mark("0001").unwrap();
    guarding
}

#[test]
fn a_guard_reverts_its_own_change_and_no_later_one_of_the_same_id() {
    let tree = Tree::new();
    let mut guarding = guarded(&tree, Duration::ZERO);
    std::fs::rename(tree.state().join("journal"), tree.state().join("aside")).unwrap();
    let mut changer = tree.changer();
    let change = changer.begin(Intent::default()).unwrap();
    assert_eq!(change.id(), "0001");
    change.keep().unwrap();
    drop(changer);
    assert!(matches!(guarding.due(), Ok(Due::Now)));
    let work = guarding.work().unwrap().unwrap();
    guarding.revert(&tree.machine(), work).unwrap();
    assert_eq!(tree.get(STAT_INTERVAL), "1\n");
    assert_eq!(tree.journal().change("1").unwrap().state, ChangeState::Kept);
}

#[test]
fn a_confirmation_ends_a_guard_only_once_its_writer_has_released_the_lock() {
    let tree = Tree::new();
    let mut guarding = guarded(&tree, Duration::from_secs(600));
    let mut changer = tree.changer();
    changer.confirm("1").unwrap();
    assert!(matches!(guarding.due(), Ok(Due::In(BETWEEN_LOOKS))));
    drop(changer);
    // A process that another test starts has the lock until it begins its program.
    let is_over = || matches!(guarding.due(), Ok(Due::Never));
    assert!(std::iter::repeat_with(is_over).take(10_000).any(|it| it));
}

#[test]
fn a_change_that_does_not_await_confirmation_is_not_loaded() {
    let tree = Tree::new();
    let mut guarding = guarded(&tree, Duration::from_secs(600));
    tree.changer().confirm("1").unwrap();
    let error = guarding.load_and_mark("0001").unwrap_err();
    assert_eq!(error.to_string(), "change 0001 does not await confirmation");
}

/// What a shared guard is told of a change in the journal, which its starter has not ended.
fn held(tree: &Tree, journal: &Journal) -> Guarding {
    let mut guarding = Guarding::of(&tree.state(), Some("0001")).unwrap();
    let line = UndoLog::of(journal, "1").unwrap().to_line().unwrap();
    assert_eq!(guarding.hold(&line[..line.len() - 1]), "what it was given cannot be read");
    assert!(guarding.loaded.is_none());
    assert_eq!(guarding.hold(&line), HOLDS);
    guarding
}

#[test]
fn what_a_guard_was_given_is_undone_without_a_journal_and_left_where_the_journal_says_it_is_over() {
    let tree = Tree::new();
    let mut changer = tree.changer();
    let mut change = changer.begin(Intent::default()).unwrap();
    change.apply(&stat_interval()).unwrap();
    std::mem::forget(change);
    let mut guarding = held(&tree, changer.journal());
    drop(changer);
    let text = tree.journal_text();
    tree.set_journal_text(b"no journal\n");
    assert!(matches!(guarding.due(), Ok(Due::Now)));
    let mut work = guarding.work().unwrap().unwrap();
    let undone = work.log.undo(&tree.machine(), Force::No);
    assert_eq!((undone.len(), &undone[0].fate), (1, &RevertOutcome::WrittenBack));
    assert_eq!(tree.get(STAT_INTERVAL), "1\n");
    tree.set_journal_text(&text);
    assert!(matches!(guarding.due(), Ok(Due::Now)));
    work.log.record(&mut tree.journal()).unwrap();
    assert!(matches!(guarding.due(), Ok(Due::Never)));
}

#[test]
fn undoing_from_a_folder_that_is_not_trusted_stops_the_holder_of_the_lock() {
    let tree = Tree::new();
    let guarding = guarded(&tree, Duration::ZERO);
    let journal = tree.journal();
    journal.permits_writes().unwrap();
    chmod(tree.state(), Mode::from_raw_mode(0o777)).unwrap();
    let work = guarding.work().unwrap().unwrap();
    chmod(tree.state(), Mode::RWXU).unwrap();
    assert!(work.journal.is_none());
    assert!(matches!(journal.permits_writes(), Err(JournalError::Overridden { .. })));
}

#[test]
fn a_guard_that_tries_again_leaves_a_change_that_was_reverted_in_between() {
    let tree = Tree::new();
    let guarding = guarded(&tree, Duration::ZERO);
    let path = tree.path(STAT_INTERVAL);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let work = guarding.work().unwrap().unwrap();
    assert!(work.journal.is_some());
    let undone = std::thread::scope(|scope| {
        scope.spawn(|| {
            // Free when the guard has failed for the first time.
            let mut changer = tree.changer();
            std::fs::remove_dir(&path).unwrap();
            tree.set(STAT_INTERVAL, "10\n");
            changer.revert("1", Force::No).unwrap();
        });
        guarding.revert(&tree.machine(), work).unwrap()
    });
    assert!(matches!(undone[0].fate, RevertOutcome::Failed { .. }), "{undone:?}");
    assert_eq!(tree.get(STAT_INTERVAL), "1\n");
    assert_eq!(tree.journal().change("1").unwrap().state, ChangeState::Reverted);
}
