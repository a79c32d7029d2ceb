//! The built thief, on whatever machine this is: what it tells can be true, and nothing of it stays behind.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "tests run the program and look at the machine"
)]

use std::fs;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::sched_getaffinity;
use serde_json::Value;

/// A CPU that this test may use.
fn some_cpu() -> String {
    let allowed = sched_getaffinity(None).expect("asking for the own CPUs is always allowed");
    (0..1024).find(|cpu| allowed.is_set(*cpu)).expect("one CPU runs this test").to_string()
}

fn start(theft: &[&str], length: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_thief"))
        .args(theft)
        .args(["--cpu", &some_cpu(), "--for", length])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the thief starts")
}

fn report(output: &Output) -> Value {
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
    assert!(cpu_ns(&report) <= wall_ns(&report) + SLACK, "{report}");
    report
}

fn steal(theft: &[&str]) -> Value {
    report(&start(theft, "300ms").wait_with_output().expect("the thief ends"))
}

/// A spinner runs a little longer than it is watched.
const SLACK: u64 = 100_000_000;

fn wall_ns(report: &Value) -> u64 {
    report["wall_ns"].as_u64().expect("a time")
}

fn cpu_ns(report: &Value) -> u64 {
    report["cpu_ns"].as_u64().expect("a time")
}

#[test]
fn a_hog_takes_something_and_no_more_than_it_should() {
    let taken = steal(&["hog", "--percent", "20"]);
    assert!(cpu_ns(&taken) > 0, "{taken}");
    // On a CPU that others fill it may get less, never much more.
    assert!(cpu_ns(&taken) < wall_ns(&taken) / 2, "{taken}");
}

#[test]
fn a_spinner_spins_and_an_idler_idles() {
    let (spun, idled) = (steal(&["spin"]), steal(&["idle"]));
    assert!(cpu_ns(&spun) > cpu_ns(&idled), "{spun} {idled}");
}

#[test]
fn a_stopped_spinner_ran_while_it_was_not_stopped() {
    let taken = steal(&["stop", "--percent", "50", "--period", "20ms"]);
    let stopped = taken["stopped"]["ns"].as_u64().expect("a time");
    assert!(stopped > 0, "{taken}");
    assert!(cpu_ns(&taken) + stopped <= wall_ns(&taken) + SLACK, "{taken}");
}

#[test]
fn timers_that_wake_nobody_move_the_count_of_interrupts() {
    let taken = steal(&["timer", "--hz", "1000"]);
    let interrupts = &taken["interrupts"];
    assert!(interrupts["raised"].as_u64().expect("a count") > 0, "{taken}");
    assert!(interrupts["local_timer"].as_u64().expect("a count") > 0, "{taken}");
}

#[test]
fn a_quota_throttles_and_its_group_is_removed() {
    let thief = start(&["quota", "--percent", "10"], "600ms");
    let name = format!("thief-{}", thief.id());
    let output = thief.wait_with_output().expect("the thief ends");
    if String::from_utf8_lossy(&output.stderr).contains("cannot") {
        println!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let taken = report(&output);
    assert!(taken["throttled"]["ns"].as_u64().is_some(), "{taken}");
    for root in ["/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"] {
        assert!(!fs::exists(format!("{root}/{name}")).expect("the folder can be asked for"));
    }
}

#[test]
fn an_order_to_stop_ends_every_theft_early_with_a_report() {
    let thefts: [&[&str]; 6] = [
        &["hog", "--percent", "5"],
        &["timer", "--hz", "100"],
        &["timer", "--hz", "1000", "--cost"],
        &["stop", "--percent", "50"],
        &["spin"],
        &["idle"],
    ];
    for theft in thefts {
        let thief = start(theft, "600s");
        wait_until_it_listens(thief.id());
        kill_process(Pid::from_child(&thief), Signal::TERM).expect("the thief is still there");
        let taken = report(&thief.wait_with_output().expect("the thief ends"));
        assert!(wall_ns(&taken) < 600_000_000_000, "{taken}");
    }
}

/// The kernel tells which signals have a handler: SigCgt in proc_pid_status(5), bit 14 for SIGTERM.
fn wait_until_it_listens(pid: u32) {
    let listens = || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        Some(u64::from_str_radix(caught.trim(), 16).ok()? & (1 << 14) != 0)
    };
    while listens() == Some(false) {
        std::thread::yield_now();
    }
}

#[test]
fn a_cpu_that_does_not_exist_is_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_thief"))
        .args(["idle", "--cpu", "1023", "--for", "1ms"])
        .output()
        .expect("the thief starts");
    if output.status.success() {
        println!("skipped: this machine has a CPU 1023");
        return;
    }
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot run on CPU 1023"));
}
