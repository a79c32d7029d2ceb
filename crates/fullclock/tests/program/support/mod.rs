//! What tests of every command share: a run of the binary, what it prints or refuses, and the shape of its JSON.

pub(crate) mod chromium;
pub(crate) mod group;
pub(crate) mod web_server;

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The binary with these arguments, without input and whatever the caller's environment says of colours.
pub(crate) fn fullclock(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fullclock"));
    command.args(arguments).env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

/// Waits until it is there, for as long as no machine should need.
pub(crate) fn found<T>(mut what: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match what() {
            Some(found) => return found,
            None if Instant::now() < deadline => sleep(Duration::from_millis(20)),
            None => panic!("it did not come about in a minute"),
        }
    }
}

/// A capture of a host with two governors.
pub(crate) const TWO_GOVERNORS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/two-governors.host");

/// Its exit code, standard output and standard error.
pub(crate) fn ran(arguments: &[&str]) -> (i32, String, String) {
    let output = fullclock(arguments).output().unwrap();
    let text = |it: Vec<u8>| String::from_utf8(it).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// What it prints; it succeeds.
pub(crate) fn printed(arguments: &[&str]) -> String {
    let output = fullclock(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A text in one line, however wide its lines are.
pub(crate) fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What it says when it refuses: the exit code is 2, and nothing is printed.
pub(crate) fn refusal(arguments: &[&str]) -> String {
    let output = fullclock(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    assert_eq!(output.stdout, b"", "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Copies a program. Another process does: what this one has open for writing cannot be run as long as a child that another
/// test has just forked has it open, too (ETXTBSY, execve(2)).
pub(crate) fn install(from: &Path, to: &Path) {
    let installed = Command::new("install").args(["-m", "755"]).arg(from).arg(to).status();
    assert!(installed.unwrap().success());
}

/// A JSON document without the moment at which its command began, which is another for each call.
pub(crate) fn without_began(text: &str) -> Value {
    let mut value: Value = serde_json::from_str(text).unwrap();
    assert!(value.as_object_mut().unwrap().remove("began").is_some(), "{value:#}");
    value
}

/// Makes a program of a script.
pub(crate) fn install_script(script: &str, to: &Path) {
    let source = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&source, script).unwrap();
    install(source.path(), to);
}

/// The whole nanoseconds of a time in seconds.
pub(crate) fn nanoseconds(seconds: &Value) -> i64 {
    (seconds.as_f64().unwrap() * 1e9).round() as i64
}

/// A value is what `schema`, the text of a file in `schemas/`, says.
pub(crate) fn is_of(schema: &str, value: &Value) {
    let schema = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(value).map(|it| it.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new(), "{value:#}");
}

/// The settings of this machine: any number of tests change them, or one that a change would disturb looks at them.
static SETTINGS: RwLock<()> = RwLock::new(());

/// To be held by a test that changes a setting of this machine.
pub(crate) fn changes_settings() -> RwLockReadGuard<'static, ()> {
    SETTINGS.read().unwrap_or_else(PoisonError::into_inner)
}

/// To be held by a test of which the settings of this machine must not change: its studies begin and end on the same machine.
pub(crate) fn needs_same_settings() -> RwLockWriteGuard<'static, ()> {
    SETTINGS.write().unwrap_or_else(PoisonError::into_inner)
}
