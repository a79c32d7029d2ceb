//! What the scheduler holds back: quotas, real-time tasks and the servers against them, clamps of utilization, and schedulers that are not
//! the kernel's own.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::audit::Audit;
use crate::boots::{BACKPORTS, SCHEDULER, on_each_that_schedules};
use crate::ledger::{line, number, report_of};

/// In percent of a CPU.
const SLACK: f64 = 1.0;

/// How much more a field has at the end of a window, for each unit of the window.
fn share(step: &Value, field: &str, unit: f64) -> f64 {
    let delta = |name: &str| number(&step["after"][name]) - number(&step["before"][name]);
    100.0 * delta(field) * unit / delta("uptime_s")
}

/// The share of the ledger's time that a line has, with the interrupts that came meanwhile.
fn found(ledger: &Value, loss: &str, part: &str) -> f64 {
    let line = line(ledger, loss, part);
    let interrupted = line["interrupted_s"].as_f64().unwrap_or(0.0);
    100.0 * (number(&line["time_s"]) + interrupted) / number(&ledger["wall_s"])
}

#[track_caller]
fn expect_near(what: &str, found: f64, true_share: f64) {
    assert!(
        (found - true_share).abs() < SLACK,
        "{what}: found {found:.2} %, true {true_share:.2} %"
    );
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn time_that_a_quota_takes_is_that_for_which_it_stopped_its_group() {
    on_each_that_schedules(|transcript| {
        let step = report_of(transcript, "ledger of a quota");
        let stopped = share(&step, "stopped_us", 1e-6);
        expect_near("quota", found(&step["ledger"], "cgroup-quota", ""), stopped);
        // Its task wants all of an otherwise idle CPU; interrupts, and being woken, take a part of it.
        let wanted = share(&step, "used_us", 1e-6) + stopped;
        assert!((95.0..=101.0).contains(&wanted), "used and stopped are {wanted:.2} %");
        let audit = &step["audit"];
        let findings = audit["findings"].as_array().into_iter().flatten();
        let stopped = findings.into_iter().find(|it| it["id"] == "cgroup-quota-throttling");
        let stopped = stopped.unwrap_or_else(|| panic!("no finding in {audit:#}")).to_string();
        assert!(stopped.contains("a cgroup quota of 0.2 CPUs stopped PostgreSQL"), "{stopped}");
        assert!(stopped.contains("cpu.max.burst"), "{stopped}");
    });
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn time_that_a_real_time_task_takes_is_its_own_count_and_the_server_leaves_five_percent() {
    on_each_that_schedules(|transcript| {
        let step = report_of(transcript, "ledger of a real-time hog");
        let [hog, victim] = ["hog_ns", "victim_ns"].map(|it| share(&step, it, 1e-9));
        // Of what both have had: an emulated CPU stands still where its host does not run it, and neither of them runs then.
        let of_both = |it: f64| 100.0 * it / (hog + victim);
        expect_near("hog", found(&step["ledger"], "other-tasks", "thief"), of_both(hog));
        // 50 ms of each second.
        expect_near("victim", of_both(victim), 5.0);
    });
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn clock_that_a_clamp_takes_is_what_the_audit_says_that_it_takes_at_most() {
    let step = report_of(&BACKPORTS, "clamped");
    let free = number(&step["max"]["khz"]);
    let lost = |clamp: &str| 100.0 * (1.0 - number(&step[clamp]["khz"]) / free);
    let at_most = |clamp: &str| up_to(&step[clamp]["audit"]);
    // The lowest clock, above which there is nothing to round up to.
    expect_near("clamp of 50 %", at_most("50.00"), lost("50.00"));
    for clamp in ["75.00", "90.00"] {
        assert!(lost(clamp) < at_most(clamp) + SLACK, "{clamp}: {:.2} % lost", lost(clamp));
    }
    assert!(at_most("max") == 0.0, "{step:#}");
}

/// The percentage of the clock that an audit says a clamp takes at most.
fn up_to(audit: &Value) -> f64 {
    let findings = audit["findings"].as_array().unwrap_or_else(|| panic!("no audit: {audit:#}"));
    let Some(found) = findings.iter().find(|it| it["id"] == "clamped-utilization") else {
        return 0.0;
    };
    let estimate = found["cost"]["estimate"].as_str().unwrap_or_default();
    let percent = estimate.strip_prefix("up to ").and_then(|it| it.split(' ').next()?.parse().ok());
    percent.unwrap_or_else(|| panic!("no share of the clock in {found:#}"))
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn scheduler_of_sched_ext_is_named_while_it_is_in_force() {
    let audit = Audit::of(&BACKPORTS, "foreign scheduler");
    let finding = audit.expect("foreign-scheduler").to_string();
    let name = format!("the sched_ext scheduler {SCHEDULER} schedules normal tasks");
    assert!(finding.contains(&name), "{finding}");
    Audit::of(&BACKPORTS, "own scheduler").expect_clean("foreign-scheduler");
}

/// What an older kernel has or lacks.
mod sweep {
    use super::*;
    use crate::boots::DEBIAN_13;

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn ticks_by_the_server_of_a_tickless_cpu_are_a_note_where_its_tick_could_stop() {
        let audit = Audit::of(&DEBIAN_13, "fair servers");
        let finding = audit.expect("fair-server-tick").to_string();
        assert!(finding.contains("the fair server (50 ms of each 1000 ms) may cause"), "{finding}");
        assert_eq!(audit.cpus("fair-server-tick"), BTreeSet::from([1]));
        // There the kernel trusts no TSC of this machine, and the tick stays: no matter of the server's.
        Audit::of(&BACKPORTS, "fair servers").expect_clean("fair-server-tick");
    }

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn kernel_without_schedulers_of_sched_ext_leaves_open_whose_it_runs() {
        assert!(Audit::of(&DEBIAN_13, "shared").leaves_open("foreign-scheduler"));
    }
}
