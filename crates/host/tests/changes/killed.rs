//! What is left of a change whose process is killed, wherever that is.

use crate::tree::Tree;
use crate::{Test, plans};
use facts::change::ChangeState;
use host::change::{Access, Force};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// More than any plan has: the loop over its points has to end.
const MOST_POINTS: u32 = 1000;

pub(crate) const TESTS: &[Test] = &[
    (
        "a_change_that_is_killed_anywhere_is_undone_by_the_next_start",
        killed_anywhere_then_recovered,
    ),
    ("a_change_that_is_killed_anywhere_is_undone_by_reverting_all", killed_anywhere_then_reverted),
    ("undoing_that_is_killed_anywhere_is_ended_by_the_next_start", killed_while_it_recovers),
    ("reverting_that_is_killed_anywhere_is_ended_by_the_next_start", killed_while_it_reverts),
];

/// The names of the plans that can be applied here: only root may ask for a latency.
fn names() -> Vec<&'static str> {
    let device = std::fs::OpenOptions::new().write(true).open("/dev/cpu_dma_latency");
    let mut names = vec!["clocks", "files", "registers", "tunables"];
    match device {
        Ok(_) => names.push("latency"),
        Err(error) => println!("not tried: a request of a latency, for which {error}"),
    }
    names
}

/// Whether a process was killed at its point; it had no such point where it ended well.
fn was_killed(status: ExitStatus, what: &str) -> bool {
    match (status.signal(), status.code()) {
        (Some(9), _) => true,
        (None, Some(0)) => false,
        _ => panic!("{what} ended with {status}"),
    }
}

/// Runs `role` on a host of the plan, killed at every point in turn, and sees that `fix` makes it what it was.
fn every_point(name: &str, role: &[&str], prepare: impl Fn(&Tree), fix: impl Fn(&Tree)) -> u32 {
    let plan = plans::named(name);
    for point in 1..MOST_POINTS {
        let tree = Tree::of(&plan.files);
        let before = tree.all();
        prepare(&tree);
        let what = format!("{role:?} of {name} at point {point}");
        let was_killed = was_killed(tree.run(role, Some(point)), &what);
        fix(&tree);
        assert_eq!(tree.all(), before, "{what}");
        assert!(
            matches!(tree.state(), None | Some(ChangeState::Reverted)),
            "{what}: {:?}",
            tree.state()
        );
        tree.until("the end of its processes", |it| it.processes().is_empty());
        if !was_killed {
            return point - 1;
        }
    }
    panic!("{name} has no end");
}

fn recovered(tree: &Tree) {
    tree.changer(Access::WriteWhenFree).recover(Force::Yes).unwrap();
}

fn reverted(tree: &Tree) {
    tree.changer(Access::WriteWhenFree).revert_all(Force::Yes).unwrap();
}

fn killed_anywhere_then_recovered() {
    let mut n_points = 0;
    for name in names() {
        let of_plan = every_point(
            name,
            &["apply", name, "-"],
            |_| {},
            |tree| {
                recovered(tree);
                // What was kept before the process was killed is kept.
                if tree.state() == Some(ChangeState::Kept) {
                    reverted(tree);
                }
            },
        );
        println!("{name}: {of_plan} points");
        n_points += of_plan;
    }
    println!("killed at {n_points} points");
    assert!(n_points >= 180, "{n_points}");
}

fn killed_anywhere_then_reverted() {
    for name in names() {
        every_point(name, &["apply", name, "-"], |_| {}, reverted);
    }
}

/// Killed in the middle of applying, and again at every point of undoing that.
fn killed_while_it_recovers() {
    for (name, point) in
        [("clocks", "30"), ("files", "25"), ("registers", "30"), ("tunables", "12")]
    {
        let apply = |tree: &Tree| {
            let point = point.parse().ok();
            assert!(was_killed(tree.run(&["apply", name, "-"], point), name), "{name}");
        };
        let n_points = every_point(name, &["recover"], apply, recovered);
        println!("{name}, recovered: {n_points} points");
    }
}

/// Killed at every point of reverting what was kept.
fn killed_while_it_reverts() {
    for name in names() {
        let apply =
            |tree: &Tree| assert!(tree.run(&["apply", name, "-"], None).success(), "{name}");
        // Killed before it says so, it was not begun: then it is still kept.
        let fix = |tree: &Tree| {
            recovered(tree);
            if tree.state() == Some(ChangeState::Kept) {
                reverted(tree);
            }
        };
        let n_points = every_point(name, &["revert-all"], apply, fix);
        println!("{name}, reverted: {n_points} points");
    }
}
