//! The workspace's test executables: built once, run side by side.
//!
//! `cargo test` runs them one after the other, and most of a test's time is waiting: for a program it started, for a disk, for a
//! deadline. Tests that measure time or count what the whole machine does lie in a module `alone` of their executable, and run
//! after all others, one at a time.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::num::NonZero;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use serde::Deserialize;

use crate::cargo::{program, test, workspace};
use crate::stage::seconds;
use crate::tally::Tally;

/// The module of tests that need the machine for themselves.
const ALONE: &str = "alone::";

/// One test executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suite {
    /// `package target`: `host changes`, `facts facts`.
    pub(crate) name: String,
    /// The executable.
    path: PathBuf,
    /// The package's folder, where its tests expect to be run.
    folder: PathBuf,
}

/// Builds all test executables, and the programs that tests start.
pub(crate) fn build() -> Result<Vec<Suite>> {
    let mut command = test(&["--no-run", "--message-format=json-render-diagnostics"]);
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot run cargo")?;
    let stdout = child.stdout.take().context("cargo has no output")?;
    let lines = BufReader::new(stdout).lines();
    let lines: Vec<String> = lines.collect::<std::io::Result<_>>().context("cannot read cargo")?;
    let status = child.wait().context("cannot wait for cargo")?;
    ensure!(status.success(), "{command:?} ended with {status}");
    let again: Vec<String> = lines.iter().filter_map(|it| compiled_again(it)).collect();
    if !again.is_empty() {
        println!(
            "compiled twice, see the features in tools/xtask/Cargo.toml: {}",
            again.join(", ")
        );
    }
    let mut suites: Vec<Suite> = lines.iter().filter_map(|it| Suite::of_message(it)).collect();
    suites.sort_by(|a, b| a.name.cmp(&b.name));
    ensure!(!suites.is_empty(), "cargo has built no test");
    Ok(suites)
}

/// A line of `cargo --message-format=json`: "compiler-artifact".
#[derive(Deserialize)]
struct Artifact {
    manifest_path: PathBuf,
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
    /// Whether it was there already.
    fresh: bool,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// The library of a message, if it is one that this program is made of, and was compiled for tests with other features.
fn compiled_again(line: &str) -> Option<String> {
    const SHARED: [&str; 5] = ["facts", "host", "rules", "lab", "report"];
    let artifact: Artifact = serde_json::from_str(line).ok()?;
    let is_shared = SHARED.contains(&&*artifact.target.name) && !artifact.profile.test;
    (is_shared && !artifact.fresh).then_some(artifact.target.name)
}

impl Suite {
    /// The executable of a message; `None` where it is about something else.
    fn of_message(line: &str) -> Option<Suite> {
        let artifact: Artifact = serde_json::from_str(line).ok()?;
        let path = artifact.executable.filter(|_| artifact.profile.test)?;
        let folder = artifact.manifest_path.parent()?.to_owned();
        let package = folder.file_name()?.to_str()?;
        Some(Suite { name: format!("{package} {}", artifact.target.name), path, folder })
    }

    /// Whether it has a `main` of its own, which takes other arguments (host/tests/changes).
    fn has_own_main(&self) -> bool {
        self.name == "host changes"
    }

    /// The size of its file: the largest has the most tests that start the program.
    fn size(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |it| it.len())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(&self.path, arguments);
        // As cargo runs it; insta finds its snapshots by the workspace.
        command.current_dir(&self.folder).env("INSTA_WORKSPACE_ROOT", workspace());
        command
    }

    /// Runs it with these arguments; what it prints is shown where a test failed.
    fn run(&self, arguments: &[&str], variables: &[(&str, PathBuf)]) -> Result<Tally> {
        let started = Instant::now();
        let mut command = self.command(arguments);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        let output =
            command.output().with_context(|| format!("cannot run {}", self.path.display()))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let tally: Tally = printed.lines().map(Tally::of_line).sum();
        let took = seconds(started.elapsed());
        if output.status.success() {
            if tally.passed > 0 {
                println!("{}: {} passed in {took}", self.name, tally.passed);
            }
            return Ok(tally);
        }
        println!("{printed}\n{}", String::from_utf8_lossy(&output.stderr));
        println!("{}: {} failed", self.name, tally.failed);
        bail!("{command:?} ended with {}", output.status)
    }
}

/// Runs the tests that have to run alone.
pub(crate) fn run_alone(suites: &[Suite]) -> Result<Tally> {
    let with_harness = suites.iter().filter(|it| !it.has_own_main());
    with_harness.map(|it| it.run(&[ALONE, "--test-threads=1"], &[])).sum()
}

/// Runs one suite with these arguments and variables of its environment.
pub(crate) fn run_named(
    suites: &[Suite],
    name: &str,
    arguments: &[&str],
    variables: &[(&str, PathBuf)],
) -> Result<Tally> {
    let suite = suites.iter().find(|it| it.name == name);
    suite.ok_or_else(|| anyhow!("there is no suite '{name}'"))?.run(arguments, variables)
}

/// Runs the tests that need not run alone: as many suites at a time as there are CPUs, the largest first.
///
/// Errors name every suite in which a test failed.
pub(crate) fn run_beside(suites: &[Suite]) -> Result<Tally> {
    let mut waiting: Vec<&Suite> = suites.iter().collect();
    waiting.sort_by_key(|it| std::cmp::Reverse((it.has_own_main(), it.size())));
    let waiting = Mutex::new(VecDeque::from(waiting));
    let n_workers = thread::available_parallelism().map_or(1, NonZero::get);
    // Most of what tests of the program do is waiting.
    let threads = format!("--test-threads={}", 4 * n_workers);
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let work = || {
        let (mut tally, mut failures) = (Tally::default(), Vec::new());
        while let Some(suite) = next() {
            let arguments: &[&str] =
                if suite.has_own_main() { &[] } else { &["--skip", ALONE, &threads] };
            match suite.run(arguments, &[]) {
                Ok(done) => tally += done,
                Err(error) => failures.push(format!("{}: {error:#}", suite.name)),
            }
        }
        (tally, failures)
    };
    let done: Vec<(Tally, Vec<String>)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
        let joined =
            workers.into_iter().map(|it| it.join().map_err(|_| anyhow!("a worker panicked")));
        joined.collect::<Result<_>>()
    })?;
    let failures: Vec<String> = done.iter().flat_map(|it| it.1.clone()).collect();
    ensure!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(done.into_iter().map(|it| it.0).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_executable_is_told_from_libraries_programs_and_other_messages() {
        let message = |profile: &str, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/facts/Cargo.toml","target":{{"name":"facts"}},"profile":{{"test":{profile}}},"executable":{executable},"fresh":false}}"#
            )
        };
        let suite = Suite::of_message(&message("true", r#""/w/target/debug/deps/facts-1""#));
        let expected = Suite {
            name: "facts facts".to_owned(),
            path: "/w/target/debug/deps/facts-1".into(),
            folder: "/w/crates/facts".into(),
        };
        assert_eq!(suite, Some(expected));
        assert_eq!(Suite::of_message(&message("false", r#""/w/target/debug/fullclock""#)), None);
        assert_eq!(Suite::of_message(&message("true", "null")), None);
        let again = |profile| compiled_again(&message(profile, "null"));
        assert_eq!((again("false"), again("true")), (Some("facts".to_owned()), None));
        let fresh = message("false", "null").replace(r#""fresh":false"#, r#""fresh":true"#);
        assert_eq!(compiled_again(&fresh), None);
        assert_eq!(Suite::of_message(r#"{"reason":"build-finished","success":true}"#), None);
    }

    #[test]
    fn a_failing_suite_is_an_error_and_those_beside_it_run_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let suite = |name: &str, script: &str| {
            let path = folder.path().join(name);
            let source = folder.path().join(format!("{name}.sh"));
            fs::write(&source, format!("#!/bin/sh\n{script}\n")).unwrap();
            // Another process makes the program: see ETXTBSY in execve(2), and a child that another test has just forked.
            let installed =
                Command::new("install").args(["-m", "755"]).args([&source, &path]).status();
            assert!(installed.unwrap().success());
            Suite { name: name.to_owned(), path, folder: folder.path().to_owned() }
        };
        let witness = folder.path().join("ran");
        let suites = [
            suite("first", "echo 'test result: FAILED. 1 passed; 1 failed; 0 ignored'; exit 101"),
            suite("second", &format!("touch {}", witness.display())),
        ];
        let error = run_beside(&suites).unwrap_err().to_string();
        assert!(error.starts_with("first: ") && !error.contains("second"), "{error}");
        assert!(witness.exists());
        let passing = [suite("third", "echo 'test result: ok. 3 passed; 0 failed; 0 ignored'")];
        assert_eq!(run_beside(&passing).unwrap(), Tally { passed: 3, failed: 0 });
    }
}
