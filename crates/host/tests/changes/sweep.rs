//! Many deadlines with something in their way, and many random kills. The variable CHANGES_SWEEP sets how many of each; without it
//! there are 200 deadlines of each obstacle and 803 kills.

use crate::obstacle::Obstacle;
use crate::obstructed::Awaiting;
use crate::tree::Tree;
use crate::{Test, plans};
use facts::change::ChangeState;
use host::change::{Access, Force};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub(crate) const TESTS: &[Test] = &[
    ("sweep_of_deadlines_with_an_obstacle_leaves_no_value_in_force", deadlines),
    ("sweep_of_random_kills_leaves_no_value_in_force", kills),
];

/// Each has a guard that sleeps most of the time.
const AT_ONCE: usize = 20;

fn number(default: u32) -> u32 {
    std::env::var("CHANGES_SWEEP").ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

/// Does something until it has counted as often, in several threads.
fn as_often(n: u32, once: impl Fn(u32) -> u32 + Sync) -> u32 {
    let (next, counted) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while counted.load(Ordering::Relaxed) < n {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    assert!(number < 20 * n + 100, "{number} attempts, and too few of them count");
                    counted.fetch_add(once(number), Ordering::Relaxed);
                }
            });
        }
    });
    counted.into_inner()
}

fn deadlines() {
    for obstacle in Obstacle::ALL {
        if !obstacle.is_possible() {
            println!("not tried: {obstacle:?}");
            continue;
        }
        let late = AtomicU32::new(0);
        let n = as_often(number(200), |number| {
            let Awaiting { tree, before } = Awaiting::of(obstacle, Some(1000 + number * 37 % 1000));
            let in_the_way = obstacle.put(&tree);
            // Where the machine is slow, the deadline came first, and says nothing.
            let is_in_time = tree.all() != before;
            tree.until_undone(&before);
            obstacle.clear(&tree, in_the_way);
            tree.until("the record", |it| it.state() == Some(ChangeState::Reverted));
            tree.until("the end of the guard", |it| it.processes().is_empty());
            assert_eq!(tree.all(), before, "{obstacle:?}");
            obstacle.remove(&tree);
            late.fetch_add(u32::from(!is_in_time), Ordering::Relaxed);
            u32::from(is_in_time)
        });
        let late = late.into_inner();
        println!(
            "{obstacle:?}: {n} deadlines, 0 values left ({late} more came before the obstacle)"
        );
    }
}

/// Longer than a process takes for its change on an idle machine.
const LATEST_KILL: u32 = 120_000;

fn kills() {
    let plan = plans::named("clocks");
    let killed = as_often(number(803), |number| {
        let tree = Tree::of(&plan.files);
        let before = tree.all();
        let within = if number % 3 == 0 { "300" } else { "-" };
        let mut n_killed = 0;
        for (place, words) in [&["apply", "clocks", within][..], &["recover"], &["revert-all"]]
            .into_iter()
            .enumerate()
        {
            let mut process = tree.command(words, None).spawn().unwrap();
            let micros = (number * 7919 + u32::try_from(place).unwrap() * 104_729) % LATEST_KILL;
            std::thread::sleep(Duration::from_micros(micros.into()));
            process.kill().unwrap();
            n_killed += u32::from(process.wait().unwrap().code().is_none());
        }
        tree.changer(Access::RevertWhenFree).revert_all(Force::No).unwrap();
        tree.until("the end of its processes", |it| it.processes().is_empty());
        assert_eq!(tree.all(), before);
        assert!(matches!(tree.state(), None | Some(ChangeState::Reverted)), "{:?}", tree.state());
        n_killed
    });
    println!("{killed} kills, 0 values lost");
}
