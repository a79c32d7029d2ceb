//! Changes of a host, made by processes that are killed, left alone by their terminal, or short of disk.
//!
//! The host is a folder of plain files. Tests that kill a process at each point at which a crash can come between need the feature
//! `faults`, take long, and run only when asked for: `cargo test -p host --features faults --test changes -- --ignored`. So do many
//! random kills and deadlines: `cargo test -p host --test changes -- --sweep`, whose numbers [`sweep`] names.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a program of tests, which lays out a host and starts itself again"
)]

mod guarded;
#[cfg(feature = "faults")]
mod killed;
mod obstacle;
mod obstructed;
mod plans;
mod short_of_disk;
mod sweep;
mod tree;

use host::change::{Access, Changer, Force, Guarded, Intent, Machine, guard, latency};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Most of a test is waiting for a deadline.
const AT_ONCE: usize = 4;

/// Tests that change what every process started meanwhile inherits.
const ALONE: [&str; 1] = ["a_guard_holds_no_lock_of_the_script_that_called_its_starter"];

/// A test: a sentence about behaviour, and what sees to it.
type Test = (&'static str, fn());

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["apply", plan, within] => apply(plan, within.parse().ok().map(Duration::from_millis)),
        ["apply-short-of-disk", plan, limit] => short_of_disk::apply(plan, limit.parse().unwrap()),
        ["recover"] => {
            let done = changer().recover(Force::Yes);
            if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        ["revert-all"] => {
            let done = changer().revert_all(Force::Yes);
            if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        ["apply-in-parts", plan, n_groups] => apply_in_parts(plan, n_groups.parse().unwrap()),
        ["there-and-back", plan, times] => there_and_back(plan, times.parse().ok()),
        ["guard-change", folder, id @ ..] => {
            match guard::run(&machine(), Path::new(folder), id.first().copied()) {
                Ok(_) => ExitCode::SUCCESS,
                Err(_) => ExitCode::FAILURE,
            }
        }
        ["hold-latency", microseconds] => match latency::hold(microseconds.parse().unwrap()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        filters => match obstacle::in_own_mounts(&arguments) {
            Some(ended) => {
                ExitCode::from(ended.code().and_then(|it| u8::try_from(it).ok()).unwrap_or(1))
            }
            None => run_tests(filters),
        },
    }
}

fn run_tests(filters: &[&str]) -> ExitCode {
    let is_ignored = filters.contains(&"--ignored");
    let is_sweep = filters.contains(&"--sweep");
    let skipped: Vec<&str> =
        filters.windows(2).filter(|it| it[0] == "--skip").map(|it| it[1]).collect();
    let filters: Vec<&&str> =
        filters.iter().filter(|it| !it.starts_with('-') && !skipped.contains(it)).collect();
    let tests = match is_ignored {
        _ if is_sweep => sweep::TESTS.to_vec(),
        #[cfg(feature = "faults")]
        true => [killed::TESTS, guarded::KILLED].concat(),
        #[cfg(not(feature = "faults"))]
        true => Vec::new(),
        false => [guarded::TESTS, obstructed::TESTS, short_of_disk::TESTS].concat(),
    };
    let chosen = |name: &str| {
        let is_named = filters.is_empty() || filters.iter().any(|it| name.contains(**it));
        is_named && !skipped.iter().any(|it| name.contains(it))
    };
    let chosen: Vec<Test> = tests.into_iter().filter(|it| chosen(it.0)).collect();
    println!("\nrunning {} tests", chosen.len());
    let (alone, chosen): (Vec<Test>, Vec<Test>) =
        chosen.into_iter().partition(|it| ALONE.contains(&it.0));
    for (name, test) in &alone {
        test();
        println!("test {name} ... ok");
    }
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            // One that fails ends the program by its panic, once those beside it have ended.
            scope.spawn(|| {
                while let Some((name, test)) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    test();
                    println!("test {name} ... ok");
                }
            });
        }
    });
    println!(
        "\ntest result: ok. {} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
        alone.len() + chosen.len()
    );
    ExitCode::SUCCESS
}

/// Applies a plan and keeps it, as a process of its own.
fn apply(plan: &str, within: Option<Duration>) -> ExitCode {
    let mut changer = changer();
    let guarded = within.map_or(Guarded::No, Guarded::UntilConfirmed);
    let padding = std::env::var(tree::PADDING).ok().and_then(|it| it.parse().ok());
    let command = vec!["apply".to_owned(), plan.to_owned(), "x".repeat(padding.unwrap_or(0))];
    let intent = Intent { command, guarded, ..Intent::default() };
    let mut change = changer.begin(intent).expect("begins");
    for group in plans::named(plan).groups {
        if let Err(failure) = change.apply(&group) {
            println!("{failure}");
            return ExitCode::from(3);
        }
    }
    match change.keep() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::from(3)
        }
    }
}

/// Applies so many groups of a plan, says that they are in force, waits until it is told, and applies the others.
fn apply_in_parts(plan: &str, n_groups: usize) -> ExitCode {
    let mut changer = changer();
    let mut change = changer.begin(Intent::default()).expect("begins");
    for (place, group) in plans::named(plan).groups.iter().enumerate() {
        if place == n_groups {
            std::fs::write(folder().join(tree::IN_FORCE), "").expect("is written");
            while folder().exists() && !folder().join(tree::ENOUGH).exists() {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        if let Err(failure) = change.apply(group) {
            println!("{failure}");
            return ExitCode::from(3);
        }
    }
    change.keep().map_or(ExitCode::from(3), |()| ExitCode::SUCCESS)
}

/// Makes a plan's changes and takes them back, as a study does: so many times, or until it is told, and then once more, in force
/// until it is killed.
fn there_and_back(plan: &str, times: Option<u32>) -> ExitCode {
    let mut changer = changer();
    let mut once = |in_force: &dyn Fn()| {
        let intent = Intent { guarded: Guarded::UntilOver, ..Intent::default() };
        let mut change = changer.begin(intent).expect("begins");
        for group in plans::named(plan).groups {
            change.apply(&group).expect("is made");
        }
        in_force();
        change.undo().expect("is taken back");
    };
    if let Some(times) = times {
        (0..times).for_each(|_| once(&|| ()));
        return ExitCode::SUCCESS;
    }
    // The folder is gone where the test has failed.
    while folder().exists() && !folder().join(tree::ENOUGH).exists() {
        once(&|| ());
    }
    once(&|| {
        std::fs::write(folder().join(tree::IN_FORCE), "").expect("is written");
        while folder().exists() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    ExitCode::FAILURE
}

fn machine() -> Machine {
    Machine::below(folder().join("root"), std::env::current_exe().expect("a program has a name"))
}

fn changer() -> Changer {
    Changer::open(machine(), &folder().join("state"), Access::WriteWhenFree).expect("opens")
}

/// Where the host and the journal of a process of its own are.
fn folder() -> PathBuf {
    std::env::var(tree::FOLDER).expect("is told its folder").into()
}
