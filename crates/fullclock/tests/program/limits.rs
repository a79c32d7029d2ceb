//! `fullclock` of a user who may do little: no root, few threads, a full disk. What it then says is what fixes it.

use crate::support::install;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_fullclock");

/// Users from here on are nobody else's, so that no other process counts against their limits.
const FIRST_USER: u32 = 65_400;

/// The binary, run by an ordinary user who may have that many threads; nothing where this test may not do so.
fn ordinary(n_threads: u32, arguments: &[&str]) -> Option<Output> {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("fullclock");
    install(Path::new(BINARY), &binary);
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    // Tests run side by side: each limit is one user's.
    let user = FIRST_USER + n_threads;
    let mut command = Command::new("setpriv");
    command.args([&format!("--reuid={user}"), &format!("--regid={user}"), "--clear-groups"]);
    command.args(["prlimit", &format!("--nproc={n_threads}")]).arg(&binary).args(arguments);
    let output = command.stdin(Stdio::null()).current_dir("/").output();
    match output {
        Ok(output) if !said(&output.stderr).starts_with("setpriv: ") => Some(output),
        _ => {
            println!("skipped: setpriv(1) and prlimit(1) of util-linux do not work here");
            None
        }
    }
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn without_a_thread_to_be_had_every_command_says_which_limit_to_raise() {
    for arguments in [
        &["ledger", "-d", "50ms"][..],
        &["watch", "--once", "-i", "20ms"],
        &["tick", "-d", "20ms"],
        &["ledger", "--spin", "-d", "50ms"],
    ] {
        let Some(output) = ordinary(1, arguments) else { return };
        let complaint = said(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
        assert!(complaint.contains("pids.max") && !complaint.contains("panicked"), "{complaint}");
    }
}

#[test]
fn threads_that_are_refused_while_it_measures_cost_their_lines_and_nothing_else() {
    for arguments in [&["ledger", "-d", "50ms"][..], &["ledger", "--spin", "-d", "50ms"]] {
        let Some(output) = ordinary(2, arguments) else { return };
        let (ledger, complaint) = (said(&output.stdout), said(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {complaint}");
        assert!(ledger.contains("capacity") && !complaint.contains("panicked"), "{ledger}");
    }
}

#[test]
fn what_is_refused_without_root_says_what_to_run_it_with() {
    let Some(ticks) = ordinary(50, &["tick", "-d", "20ms"]) else { return };
    assert!(!said(&ticks.stdout).contains("may not be read."), "{}", said(&ticks.stdout));
    let Some(ledger) = ordinary(50, &["ledger", "-d", "50ms"]) else { return };
    let ledger = said(&ledger.stdout);
    assert!(ledger.contains("counted, not traced: "), "{ledger}");
}

#[test]
fn a_trace_that_was_asked_for_and_cannot_be_had_is_an_error_with_what_to_do() {
    for command in [
        &["ledger", "-d", "50ms", "--cpus", "0"][..],
        &["ledger", "--spin", "-d", "50ms", "--cpus", "0"],
        &["noise", "-d", "50ms", "--cpus", "0"],
    ] {
        let always = [command, &["--trace", "always"]].concat();
        let Some(output) = ordinary(50, &always) else { return };
        let complaint = said(&output.stderr);
        assert_eq!((output.status.code(), &*output.stdout), (Some(2), &[][..]), "{complaint}");
        let error = "fullclock: --trace always: nothing can be traced: ";
        assert!(complaint.contains(error), "{complaint}");
        assert!(complaint.contains("; --trace auto "), "{complaint}");
    }
}

#[test]
fn a_full_disk_is_named() {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        println!("skipped: there is no /dev/full");
        return;
    };
    let output = Command::new(BINARY).args(["explain", "ticks"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output.stderr).starts_with("fullclock: cannot write to standard output: "));
}
