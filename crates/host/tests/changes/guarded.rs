//! The process that reverts a change unless it is confirmed.

use crate::tree::Tree;
use crate::{Test, plans};
use facts::change::ChangeState;
use host::change::Access;
use rustix::fs::{FlockOperation, flock};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

pub(crate) const TESTS: &[Test] = &[
    ("a_change_that_nobody_confirms_is_reverted", not_confirmed),
    ("a_change_that_is_confirmed_in_time_stays", confirmed),
    ("a_guard_holds_no_lock_of_the_script_that_called_its_starter", inherited),
    ("closing_the_terminal_keeps_no_guard_from_reverting", terminal_closed),
    ("changes_that_are_taken_back_share_a_guard_and_leave_no_process", shared),
    ("a_guard_that_is_killed_is_replaced_before_the_next_change", guard_killed),
];

#[cfg(feature = "faults")]
pub(crate) const KILLED: &[Test] = &[
    ("a_guarded_change_that_is_killed_anywhere_is_reverted_by_its_guard", killed_anywhere),
    ("changes_there_and_back_that_are_killed_anywhere_are_reverted_by_their_guard", killed_between),
];

fn not_confirmed() {
    let plan = plans::named("clocks");
    let tree = Tree::of(&plan.files);
    let before = tree.all();
    assert!(tree.run(&["apply", "clocks", "300"], None).success());
    assert!(matches!(tree.state(), Some(ChangeState::Awaiting { .. })), "{:?}", tree.state());
    assert_ne!(tree.all(), before);
    tree.until("the guard's reverting", |it| it.state() == Some(ChangeState::Reverted));
    assert_eq!(tree.all(), before);
    tree.until("the end of the guard", |it| it.processes().is_empty());
}

fn confirmed() {
    let plan = plans::named("clocks");
    let tree = Tree::of(&plan.files);
    assert!(tree.run(&["apply", "clocks", "1500"], None).success());
    let after = tree.all();
    tree.changer(Access::WriteWhenFree).confirm("1").unwrap();
    tree.until("the end of the guard", |it| it.processes().is_empty());
    assert_eq!((tree.all(), tree.state()), (after, Some(ChangeState::Kept)));
}

fn inherited() {
    let tree = Tree::of(&plans::named("clocks").files);
    let path = tree.sign("script");
    let open = || std::fs::File::create(&path).unwrap();
    let of_script = open();
    flock(&of_script, FlockOperation::NonBlockingLockExclusive).unwrap();
    fcntl_setfd(&of_script, FdFlags::empty()).unwrap();
    assert!(tree.run(&["apply", "clocks", "60000"], None).success());
    drop(of_script);
    assert!(guard_of(&tree).is_some());
    flock(open(), FlockOperation::NonBlockingLockExclusive).unwrap();
    tree.changer(Access::Revert).confirm("1").unwrap();
    tree.until("the end of the guard", |it| it.processes().is_empty());
}

/// The kernel sends SIGHUP to the process group of a terminal that is closed, and some shells to every job.
fn terminal_closed() {
    let plan = plans::named("clocks");
    let tree = Tree::of(&plan.files);
    let before = tree.all();
    let mut starter = tree.command(&["apply", "clocks", "1000"], None);
    let mut starter = starter.process_group(0).spawn().unwrap();
    let group = Pid::from_raw(i32::try_from(starter.id()).unwrap()).unwrap();
    // The starter may have ended by then, which its guard, in a session of its own, does not.
    tree.until("the guard", |it| guard_of(it).is_some());
    let guard = Pid::from_raw(i32::try_from(guard_of(&tree).unwrap()).unwrap()).unwrap();
    let _ended_already = kill_process_group(group, Signal::HUP);
    let _ended_already = kill_process_group(group, Signal::KILL);
    kill_process(guard, Signal::HUP).unwrap();
    starter.wait().unwrap();
    tree.until("the end of the guard", |it| it.processes().is_empty());
    assert!(matches!(tree.state(), None | Some(ChangeState::Reverted)), "{:?}", tree.state());
    assert_eq!(tree.all(), before);
}

fn shared() {
    let tree = Tree::of(&plans::named("clocks").files);
    let before = tree.all();
    let mut starter = tree.command(&["there-and-back", "clocks", "-"], None).spawn().unwrap();
    tree.until("a change", |it| n_changes(it) > 0);
    let guard = guard_of(&tree).unwrap();
    tree.until("ten changes", |it| n_changes(it) > 10);
    // What has ended and was not waited for has no environment any more, but is still somebody's child.
    assert_eq!(children_of(starter.id()), [guard]);
    tree.until_in_force();
    assert_ne!(tree.all(), before);
    starter.kill().unwrap();
    starter.wait().unwrap();
    expect_reverted(&tree, &before);
}

fn guard_killed() {
    let tree = Tree::of(&plans::named("clocks").files);
    let before = tree.all();
    let mut starter = tree.command(&["there-and-back", "clocks", "-"], None).spawn().unwrap();
    let mut last = None;
    for _ in 0..5 {
        tree.until("another guard", |it| guard_of(it).is_some_and(|it| Some(it) != last));
        last = guard_of(&tree);
        // It may not have said yet that it is ready, and is not killed before somebody relies on it.
        let n_before = n_changes(&tree);
        tree.until("a change", |it| n_changes(it) > n_before);
        let guard = Pid::from_raw(i32::try_from(last.unwrap()).unwrap()).unwrap();
        kill_process(guard, Signal::KILL).unwrap();
    }
    tree.until_in_force();
    assert!(guard_of(&tree).is_some_and(|it| Some(it) != last));
    starter.kill().unwrap();
    starter.wait().unwrap();
    expect_reverted(&tree, &before);
}

fn n_changes(tree: &Tree) -> usize {
    tree.journal(Access::Read).changes().len()
}

/// Nobody starts anything before: what is there is the guard's doing.
#[track_caller]
fn expect_reverted(tree: &Tree, before: &BTreeMap<PathBuf, Vec<u8>>) {
    tree.until("the end of the guard", |it| it.processes().is_empty());
    assert_eq!(&tree.all(), before);
    let journal = tree.journal(Access::Read);
    assert!(journal.changes().iter().all(|it| it.state == ChangeState::Reverted), "{journal:?}");
}

/// The guard, which leads a session of its own.
fn guard_of(tree: &Tree) -> Option<u32> {
    tree.processes().into_iter().find(|it| leads_a_session(*it))
}

fn children_of(pid: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    children.split_whitespace().map(|it| it.parse().unwrap()).collect()
}

/// By the file, since getsid(2) has no number for a session whose leader is in another namespace of processes.
fn leads_a_session(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_the_name = stat.rsplit(')').next().unwrap_or_default();
    // ChangeState, parent, group, session.
    after_the_name.split_whitespace().nth(3) == Some(pid.to_string().as_str())
}

/// Nobody starts anything afterwards: the guard alone fixes it.
#[cfg(feature = "faults")]
fn killed_anywhere() {
    let plan = plans::named("clocks");
    for point in 1..1000 {
        let tree = Tree::of(&plan.files);
        let before = tree.all();
        let status = tree.run(&["apply", "clocks", "1"], Some(point));
        tree.until("the end of the guard", |it| it.processes().is_empty());
        assert_eq!(tree.all(), before, "killed at point {point}");
        assert!(matches!(tree.state(), None | Some(ChangeState::Reverted)), "{:?}", tree.state());
        if status.success() {
            println!("guarded: {} points", point - 1);
            return;
        }
    }
    panic!("the plan has no end");
}

#[cfg(feature = "faults")]
fn killed_between() {
    let plan = plans::named("clocks");
    for point in 1..1000 {
        let tree = Tree::of(&plan.files);
        let before = tree.all();
        let status = tree.run(&["there-and-back", "clocks", "2"], Some(point));
        expect_reverted(&tree, &before);
        if status.success() {
            println!("there and back: {} points", point - 1);
            return;
        }
    }
    panic!("the plan has no end");
}
