//! Deadlines that come while the journal cannot be read, written or locked: nothing may stay in force.

use crate::obstacle::Obstacle;
use crate::tree::{self, Tree};
use crate::{Test, plans};
use facts::change::ChangeState;
use host::change::{Access, ChangeError, Force, Journal};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Stdio};

pub(crate) const TESTS: &[Test] = &[
    ("a_change_is_reverted_at_its_deadline_from_a_read_only_file_system", || {
        due(Obstacle::ReadOnly);
    }),
    ("a_change_is_reverted_at_its_deadline_on_a_full_disk", || due(Obstacle::Full)),
    ("a_change_is_reverted_at_its_deadline_with_a_damaged_journal", || due(Obstacle::Damaged)),
    ("a_change_is_reverted_at_its_deadline_from_a_folder_others_write", || {
        due(Obstacle::OthersWrite);
    }),
    ("a_change_is_reverted_at_its_deadline_from_a_renamed_folder", || due(Obstacle::Renamed)),
    ("a_change_is_reverted_at_its_deadline_while_another_process_holds_the_lock", || {
        due(Obstacle::Locked);
    }),
    ("what_a_study_that_dies_has_in_force_is_reverted_whatever_becomes_of_its_journal", || {
        [Obstacle::Damaged, Obstacle::OthersWrite, Obstacle::Renamed]
            .into_iter()
            .for_each(study_dies);
    }),
    (
        "a_stopped_process_that_is_continued_after_an_override_writes_nothing",
        stopped_before_writing,
    ),
    ("a_live_process_that_was_overridden_takes_back_what_it_wrote", overridden_between_writes),
    ("reverting_on_a_read_only_file_system_undoes_and_says_what_is_not_recorded", || {
        reverted_by_hand(Obstacle::ReadOnly);
    }),
    ("reverting_on_a_full_disk_undoes_and_says_what_is_not_recorded", || {
        reverted_by_hand(Obstacle::Full);
    }),
    ("reverting_obeys_no_journal_that_is_damaged_or_that_others_can_write", untrusted),
];

/// A tree with a change of the plan `clocks`, of which nothing is confirmed.
pub(crate) struct Awaiting {
    pub(crate) tree: Tree,
    pub(crate) before: BTreeMap<PathBuf, Vec<u8>>,
}

impl Awaiting {
    /// `None` in place of a time to confirm it keeps the change.
    pub(crate) fn of(obstacle: Obstacle, within: Option<u32>) -> Awaiting {
        let files = plans::named("clocks").files;
        let mut padding = 0;
        if obstacle == Obstacle::Full {
            let shorter = Tree::of(&files);
            let for_minutes = within.map_or("-", |_| "600000");
            assert!(shorter.run(&["apply", "clocks", for_minutes], None).success());
            padding = obstacle.padding(std::fs::metadata(shorter.journal_path()).unwrap().len());
            shorter.changer(Access::Revert).revert_all(Force::No).unwrap();
            shorter.until("the end of its guard", |it| it.processes().is_empty());
        }
        let tree = Tree::of(&files);
        let before = tree.all();
        obstacle.prepare(&tree);
        let within = within.map_or("-".to_owned(), |it| it.to_string());
        let mut apply = tree.command(&["apply", "clocks", &within], None);
        apply.env(tree::PADDING, padding.to_string());
        assert!(apply.status().unwrap().success());
        Awaiting { tree, before }
    }
}

fn due(obstacle: Obstacle) {
    if !obstacle.is_possible() {
        return println!("not tried: {obstacle:?}");
    }
    let Awaiting { tree, before } = Awaiting::of(obstacle, Some(5000));
    let in_the_way = obstacle.put(&tree);
    assert_ne!(tree.all(), before, "the deadline was over before the obstacle was in its way");
    tree.until_undone(&before);
    obstacle.clear(&tree, in_the_way);
    tree.until("the record", |it| it.state() == Some(ChangeState::Reverted));
    tree.until("the end of the guard", |it| it.processes().is_empty());
    assert_eq!(tree.all(), before);
    obstacle.remove(&tree);
}

fn study_dies(obstacle: Obstacle) {
    let tree = Tree::of(&plans::named("clocks").files);
    let before = tree.all();
    let mut study = tree.command(&["there-and-back", "clocks", "-"], None).spawn().unwrap();
    tree.until_in_force();
    let in_the_way = obstacle.put(&tree);
    assert_ne!(tree.all(), before);
    study.kill().unwrap();
    study.wait().unwrap();
    tree.until_undone(&before);
    obstacle.clear(&tree, in_the_way);
    tree.until("the record", |it| it.state() == Some(ChangeState::Reverted));
    tree.until("the end of the guard", |it| it.processes().is_empty());
    assert_eq!(tree.all(), before);
}

/// A process that begins a change of the plan `files` and makes so many of its groups, while `clocks` awaits confirmation.
fn while_awaiting(n_groups: &str) -> (Awaiting, Child) {
    let mut files = plans::named("clocks").files;
    files.extend(plans::named("files").files);
    let tree = Tree::of(&files);
    let before = tree.all();
    assert!(tree.run(&["apply", "clocks", "5000"], None).success());
    let mut other = tree.command(&["apply-in-parts", "files", n_groups], None);
    let other = other.stdout(Stdio::piped()).spawn().unwrap();
    tree.until("a part of the other change", |it| it.sign(tree::IN_FORCE).exists());
    (Awaiting { tree, before }, other)
}

fn clocks_are_back(tree: &Tree) -> bool {
    let plan = plans::named("clocks");
    plan.files.iter().all(|(path, text)| std::fs::read(tree.path(path)).unwrap() == *text)
}

fn expect_overridden(Awaiting { tree, before }: &Awaiting, other: Child) {
    let output = other.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("the guard of that change went ahead"), "{said}");
    tree.until("the end of the guard", |it| it.processes().is_empty());
    assert_eq!(&tree.all(), before);
    let journal = tree.journal(Access::Read);
    let states = journal.changes().iter().map(|it| it.state.clone()).collect::<Vec<_>>();
    assert_eq!(states, [ChangeState::Reverted, ChangeState::Reverted]);
}

fn stopped_before_writing() {
    let (awaiting, other) = while_awaiting("0");
    let tree = &awaiting.tree;
    let pid = Pid::from_raw(i32::try_from(other.id()).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    tree.until("the guard's reverting", clocks_are_back);
    assert_eq!(tree.all(), awaiting.before);
    // What cannot be recorded while the other process has the lock is still undone.
    assert!(matches!(tree.journal(Access::Read).changes()[0].state, ChangeState::Awaiting { .. }));
    std::fs::write(tree.sign(tree::ENOUGH), "").unwrap();
    kill_process(pid, Signal::CONT).unwrap();
    expect_overridden(&awaiting, other);
}

fn overridden_between_writes() {
    let (awaiting, other) = while_awaiting("1");
    let tree = &awaiting.tree;
    // It made its own change of /proc/sys/kernel/timer_migration.
    tree.until("the guard's reverting", clocks_are_back);
    assert_ne!(tree.all(), awaiting.before);
    std::fs::write(tree.sign(tree::ENOUGH), "").unwrap();
    expect_overridden(&awaiting, other);
}

fn reverted_by_hand(obstacle: Obstacle) {
    if !obstacle.is_possible() {
        return println!("not tried: {obstacle:?}");
    }
    let Awaiting { tree, before } = Awaiting::of(obstacle, None);
    let in_the_way = obstacle.put(&tree);
    assert_ne!(tree.all(), before);
    let mut changer = tree.changer(Access::Revert);
    let error = changer.revert_all(Force::No).unwrap_err();
    assert!(
        matches!(&error, ChangeError::NotRecorded { undone, .. } if !undone.is_empty()),
        "{error}"
    );
    drop(changer);
    assert_eq!(tree.all(), before);
    obstacle.clear(&tree, in_the_way);
    tree.changer(Access::Revert).revert_all(Force::No).unwrap();
    assert_eq!((tree.all(), tree.state()), (before, Some(ChangeState::Reverted)));
    obstacle.remove(&tree);
}

fn untrusted() {
    for obstacle in [Obstacle::Damaged, Obstacle::OthersWrite] {
        let Awaiting { tree, before } = Awaiting::of(obstacle, None);
        let in_the_way = obstacle.put(&tree);
        assert!(Journal::open(&tree.state_folder(), Access::Revert).is_err(), "{obstacle:?}");
        assert_ne!(tree.all(), before);
        obstacle.clear(&tree, in_the_way);
    }
}
