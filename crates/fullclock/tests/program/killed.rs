//! `fullclock bench`, killed while it runs: what becomes of its command and of its trials.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_fullclock");

/// Waits until it is so, for as long as no machine should need.
fn comes_true(what: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !what() && Instant::now() < deadline {
        sleep(Duration::from_millis(20));
    }
    what()
}

/// Whether a process is there and runs; what nobody waits for after its parent's death is a zombie at most.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|it| !it.is_empty() && !it.trim_start().starts_with('Z'))
}

/// The lines of a file that is being written.
fn lines(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_inclusive('\n').filter_map(|it| it.strip_suffix('\n')).map(str::to_owned).collect()
}

#[test]
fn a_command_its_children_and_those_that_lost_their_parent_go_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    // A child, one whose parent ends at once, and both deaf to what a shell may ignore.
    let script = format!(
        "trap '' HUP INT TERM; (sleep 600 & echo $! >> {0}); sleep 600 & echo $! >> {0}; echo $$ >> {0}; wait",
        pids.display()
    );
    let mut bench = Command::new(BINARY)
        .args(["bench", "command", "--no-save", "--", "sh", "-c", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    assert!(comes_true(|| lines(&pids).len() == 3));
    let pids = lines(&pids);
    assert!(pids.iter().all(|it| runs(it)), "{pids:?}");
    // SIGKILL.
    bench.kill().unwrap();
    bench.wait().unwrap();
    assert!(comes_true(|| !pids.iter().any(|it| runs(it))), "{pids:?}");
}

#[test]
fn its_trials_are_a_result_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    let bench = |trials: &str| {
        let mut command = Command::new(BINARY);
        command.args(["bench", "cpu-loop", "--iterations", "100000", "-n", trials]);
        command.arg("--results").arg(&results).stdin(Stdio::null()).stdout(Stdio::null());
        command
    };
    let named = |ending: &str| {
        let entries = fs::read_dir(&results).into_iter().flatten().flatten();
        entries.map(|it| it.path()).find(|it| it.to_string_lossy().ends_with(ending))
    };
    let mut killed = bench("1000000").stderr(Stdio::null()).spawn().unwrap();
    assert!(comes_true(|| named(".trials").is_some_and(|it| lines(&it).len() > 3)));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let next = bench("2").output().unwrap();
    let said = String::from_utf8(next.stderr).unwrap();
    assert!(next.status.success(), "{said}");
    assert!(said.contains("has the trials of a run that was killed"), "{said}");
    assert!(named(".trials").is_none() && named(".sqlite").is_some());
}
