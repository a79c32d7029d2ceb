//! Changes that await confirmation, and studies during which other changes are made or reverted, by the built binary. What is changed is harmless: a request for
//! wake-ups within a second.

use crate::support::{changes_settings, fullclock, is_of, needs_same_settings, printed, refusal};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::{Builder, TempDir};

const SETTING: &str = "cpu-dma-latency=1000000";

/// A state folder; what is left applied in it is reverted at the end.
struct State {
    folder: TempDir,
}

impl State {
    fn new() -> State {
        let mode = fs::Permissions::from_mode(0o700);
        State { folder: Builder::new().permissions(mode).tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = fullclock(words);
        command.arg("--state-dir").arg(self.path());
        command
    }

    fn succeeds(&self, words: &[&str]) -> String {
        printed(&[words, &["--state-dir", self.path().to_str().unwrap()]].concat())
    }

    fn refuses(&self, words: &[&str]) -> String {
        refusal(&[words, &["--state-dir", self.path().to_str().unwrap()]].concat())
    }

    fn latest(&self) -> Value {
        let status = self.succeeds(&["status", "--all", "--json"]);
        let status = serde_json::from_str(&status).unwrap();
        is_of(include_str!("../../../../schemas/status-2.json"), &status);
        status["changes"].as_array().unwrap().last().cloned().unwrap_or_default()
    }

    /// The process with these words on its command line, for this folder.
    fn process(&self, word: &str) -> Option<Pid> {
        let words = [word, self.path().to_str().unwrap()].map(|it| format!("\0{it}\0"));
        process(|line| words.iter().all(|it| line.contains(it.as_str())))
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.command(&["revert", "--all"]).output().ok();
        // It looks every other second whether its change is over.
        until("the end of the guard", || self.process("guard-change").is_none());
    }
}

fn process(is_it: impl Fn(&str) -> bool) -> Option<Pid> {
    let all =
        fs::read_dir("/proc").unwrap().filter_map(|it| it.ok()?.file_name().into_string().ok());
    let is_it = |pid: &i32| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        is_it(&line)
    };
    all.filter_map(|it| it.parse().ok()).find(is_it).and_then(Pid::from_raw)
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what} has not come about");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn status_and_confirm_say_that_an_overdue_change_has_no_guard() {
    let _settings = changes_settings();
    let state = State::new();
    state.succeeds(&["apply", SETTING, "--confirm-within", "15s"]);
    assert_eq!(state.latest()["guard"]["is_running"], true);
    kill_process(state.process("guard-change").unwrap(), Signal::KILL).unwrap();
    until("the end of the guard", || state.latest()["guard"]["is_running"] == false);
    assert!(state.succeeds(&["status"]).contains("no guard is running to revert it then"));
    until("the deadline", || state.latest()["guard"]["is_overdue"] == true);
    let status = state.succeeds(&["status"]);
    assert!(status.contains("overdue since") && status.contains("no guard is running"), "{status}");
    let refused = state.refuses(&["confirm"]);
    assert!(refused.contains("it is still in force"), "{refused}");
    // What it undoes first is reported although the change that was named is not there.
    let reverted = state.command(&["revert", "99"]).output().unwrap();
    assert_eq!(reverted.status.code(), Some(3), "{}", error(&reverted));
    assert!(String::from_utf8_lossy(&reverted.stdout).contains("1 place is as before"));
    assert!(error(&reverted).contains("no change 99"), "{}", error(&reverted));
    assert_eq!(state.latest()["state"], "reverted");
}

#[test]
fn trials_are_refused_while_a_change_awaits_confirmation() {
    let _settings = changes_settings();
    let state = State::new();
    state.succeeds(&["apply", SETTING, "--confirm-within", "10m"]);
    let study = ["experiment", "load=idle,all-cores", "-w", "cpu-loop --iterations 1000"];
    let proof = ["apply", "--prove", "cpu-loop --iterations 1000", "cpu-dma-latency=2000000"];
    for words in [&study[..], &proof] {
        let refused = state.refuses(words);
        assert!(refused.contains("change 0001 awaits confirmation"), "{words:?}: {refused}");
    }
}

#[test]
fn during_a_study_no_change_is_made_and_one_can_be_reverted() {
    let _settings = needs_same_settings();
    let state = State::new();
    state.succeeds(&["apply", SETTING]);
    let results = state.folder.path().join("results");
    let workload = "cpu-loop --iterations 100000";
    let study = ["experiment", "cpu-dma-latency=as-found,2000000", "-q", "-w", workload];
    let mut study = state.command(&study);
    study.args(["-n", "16", "--rest", "300ms", "--results"]).arg(&results);
    let mut study = study.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    until("a trial", || state.process("guard-change").is_some());
    let refused = state.refuses(&["apply", "cpu-dma-latency=3000000"]);
    assert!(refused.contains("runs a study") || refused.contains("runs a trial"), "{refused}");
    state.succeeds(&["revert", "1"]);
    assert!(
        study.try_wait().unwrap().is_none(),
        "the study has ended before the change was reverted"
    );
    let ended = study.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", error(&ended));
    state.succeeds(&["apply", "cpu-dma-latency=3000000"]);
}

/// Mounts of its own, a small file system, and a script that is run in it. `None` where only root may.
fn with_file_system(script: &str, folder: &Path) -> Option<Output> {
    let script = format!("mount -t tmpfs -o size=1m,mode=700 none \"$1\" || exit 99; {script}");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script, env!("CARGO_BIN_EXE_fullclock")]).arg(folder);
    let output = command.output().ok()?;
    (output.status.code() != Some(99) && !error(&output).contains("unshare:")).then_some(output)
}

#[test]
fn reverting_on_a_read_only_file_system_undoes_and_ends_with_3() {
    let _settings = changes_settings();
    let folder = State::new();
    let script = "\"$0\" apply -q cpu-dma-latency=1234567 --state-dir \"$1/s\" >&2 || exit 98
        mount -o remount,ro \"$1\"
        \"$0\" revert --json --state-dir \"$1/s\"; code=$?
        mount -o remount,rw \"$1\"
        \"$0\" revert -q --state-dir \"$1/s\" >&2 && exit $code";
    let Some(output) = with_file_system(script, folder.folder.path()) else {
        eprintln!("not tried: a read-only file system, which takes root");
        return;
    };
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    let reverted: Value = serde_json::from_slice(&output.stdout).unwrap();
    is_of(include_str!("../../../../schemas/revert-2.json"), &reverted);
    assert_eq!(reverted["undone"][0]["fate"], "written-back");
    assert!(reverted["not_recorded"].as_str().unwrap().contains("its file system is read-only"));
    assert_eq!(process(|line| line.contains("hold-latency\x001234567")), None);
}

/// A line of the journal: the checksum is that of what follows it.
fn journal_line(number: usize, step: &str, body: &str) -> String {
    let summed = format!("\"sequence\":{number},\"step\":{step},\"body\":{body}}}");
    let shifted = |sum: u32| (sum >> 1) ^ (0xedb8_8320 * (sum & 1));
    let next = |sum: u32, byte: u8| (0..8).fold(sum ^ u32::from(byte), |sum, _| shifted(sum));
    let sum = !summed.bytes().fold(u32::MAX, next);
    format!("{{\"crc32\":\"{sum:08x}\",{summed}\n")
}

#[test]
fn a_revert_reports_what_it_undid_before_a_change_that_it_cannot_undo() {
    let _settings = changes_settings();
    let state = State::new();
    for latency in ["1000001", "1000002"] {
        state.succeeds(&["apply", &format!("cpu-dma-latency={latency}")]);
    }
    let path = state.path().join("journal");
    let mut journal = fs::read_to_string(&path).unwrap();
    let n = journal.lines().count();
    // Both were interrupted while they were reverted, and what the first wrote cannot be read.
    let reverting = |change| format!("{{\"is\":\"reverting\",\"change\":\"{change}\"}}");
    let intended = r#"{"is":"intended","change":"0001","group":7}"#;
    journal += &journal_line(n + 1, &reverting("0001"), "null");
    journal += &journal_line(n + 2, &reverting("0002"), "null");
    journal += &journal_line(n + 3, intended, "\"no group\"");
    fs::write(&path, journal).unwrap();
    let output = state.command(&["revert", "--json"]).output().unwrap();
    let held = |latency: &str| process(|it| it.contains(&format!("hold-latency\0{latency}")));
    let holders = [held("1000001"), held("1000002")];
    holders.iter().flatten().for_each(|it| kill_process(*it, Signal::KILL).unwrap());
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    assert!(error(&output).contains("change 0001 is not undone: "), "{}", error(&output));
    let reverted: Value = serde_json::from_slice(&output.stdout).unwrap();
    is_of(include_str!("../../../../schemas/revert-2.json"), &reverted);
    assert_eq!(reverted["undone"].as_array().unwrap().len(), 1);
    assert_eq!(reverted["undone"][0]["change"], "0002");
    assert!(reverted["error"].as_str().unwrap().starts_with("change 0001 is not undone: "));
    assert!(holders[0].is_some() && holders[1].is_none());
}

#[test]
fn a_limit_of_file_sizes_is_an_error_and_leaves_nothing_in_force() {
    let _settings = changes_settings();
    let mut n_refused = 0;
    for limit in (40..1600).step_by(60) {
        let state = State::new();
        let mut command = Command::new("prlimit");
        command.arg(format!("--fsize={limit}")).arg(env!("CARGO_BIN_EXE_fullclock"));
        command.args(["apply", "-q", "cpu-dma-latency=1234568", "--state-dir"]).arg(state.path());
        let output = command.output().unwrap();
        let code = output.status.code();
        assert!(code.is_some(), "limit {limit}: {}", output.status);
        if code != Some(0) {
            n_refused += 1;
            // One that was not yet told to request anything ends by itself when its starter has ended.
            let what = format!("limit {limit}: {}: the end of what holds it", error(&output));
            until(&what, || process(|line| line.contains("hold-latency\x001234568")).is_none());
        }
    }
    assert!(n_refused > 5, "{n_refused}");
}
