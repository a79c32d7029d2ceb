//! Each source is taken away in turn: its lines become unknown with a reason, their share becomes unexplained, and
//! nothing else changes.
//!
//! Lines that are carved out of others (interrupts, a quota) are the exception that the notes of a ledger name: without
//! their source their share stays in what they are carved out of, because nobody can tell how much it was.

use crate::fixture::books::{ledger, replaced, untraced, without};
use crate::losses::LOSSES;
use facts::Fact;
use std::collections::BTreeMap;

/// A second in which every line that counters can fill has something, and no source has a stand-in: the kernel leaves
/// interrupts and stolen time out of run times, and idle time is cpuidle's alone.
fn books() -> String {
    let accounted = "CONFIG_IRQ_TIME_ACCOUNTING=y\nCONFIG_PARAVIRT_TIME_ACCOUNTING=y\n";
    replaced(
        &untraced(),
        &[
            ("# CONFIG_IRQ_TIME_ACCOUNTING is not set\n", accounted),
            ("idle iowait irq softirq steal\n0 31 0 0 0 0", "irq softirq steal\n0 2 1 4"),
            ("1 99 0 0 0 0", "1 1 0 0"),
            (
                "CpuTimes idle iowait irq softirq steal\n0 0 0 0 0 0\n1 0 0 0 0 0",
                "CpuTimes irq softirq steal\n0 0 0 0\n1 0 0 0",
            ),
            ("groups\n//- after", "groups\ngroup /db 0\n//- after"),
            ("groups\n//- seen", "groups\ngroup /db 60000000\n//- seen"),
            ("observer 20", "observer 20\nchosen 10\ncost tick 20000"),
            ("user 0 578000000", "user 0 300000000"),
            (
                "task 20 20 fullclock user 0 10000000 0",
                "task 20 20 fullclock user 0 10000000 0\ntask 30 30 backup user 0 200000000 0",
            ),
            (
                "task 20 20 fullclock user 0 0 0",
                "task 20 20 fullclock user 0 0 0\ntask 30 30 backup user 0 0 0",
            ),
        ],
    )
}

/// The same, and the clock stood still for a part of the time.
fn with_a_stopped_clock() -> String {
    replaced(&books(), &[("1390000000", "1200000000"), ("1112000000", "960000000")])
}

/// What is known of each loss, in nanoseconds.
fn totals(text: &str) -> BTreeMap<&'static str, Fact<i64>> {
    let ledger = ledger(text);
    LOSSES.iter().map(|it| (it.id, ledger.total(it.id))).collect()
}

/// Takes a source away: `lost` are the lines that are unknown without it.
fn blind(text: &str, sources: &[&str], lost: &[&str]) {
    let blinded = sources.iter().fold(text.to_owned(), |text, source| without(&text, source));
    let (sighted, blind) = (totals(text), totals(&blinded));
    let mut share = 0;
    for (id, total) in &sighted {
        let was_known = total.as_ref().ok();
        match (&blind[id], lost.contains(id)) {
            (Err(_), true) => share += was_known.expect("a source that was there"),
            (Ok(ns), true) => panic!("{id} is still {ns} without {sources:?}"),
            (now, false) => assert_eq!(now, total, "{id} without {sources:?}"),
        }
    }
    let unexplained = |text: &str| ledger(text).unexplained_ns;
    assert_eq!(unexplained(&blinded), unexplained(text) + share, "without {sources:?}");
    assert!(share > 0, "nothing was at stake without {sources:?}");
}

#[test]
fn without_idle_times_idle_and_what_is_carved_out_of_it_are_unexplained() {
    blind(&books(), &["IdleTime"], &["idle", "cgroup-quota"]);
}

#[test]
fn without_run_times_all_lines_of_tasks_are_unexplained() {
    let lines =
        ["kernel-threads", "other-tasks", "measuring", "useful", "slow-clock", "stopped-clock"];
    blind(&with_a_stopped_clock(), &["task"], &lines);
}

#[test]
fn without_a_clock_the_work_is_unexplained_and_what_others_took_is_not() {
    blind(&with_a_stopped_clock(), &["Clocks"], &["useful", "slow-clock", "stopped-clock"]);
}

#[test]
fn without_the_kernels_times_stolen_time_and_interrupts_are_unexplained() {
    blind(&books(), &["CpuTimes"], &["stolen", "interrupts", "softirqs"]);
}

#[test]
fn without_the_cost_of_a_tick_ticks_are_part_of_the_interrupts_that_the_kernel_counts() {
    let blinded = without(&books(), "cost");
    let (sighted, blind) = (totals(&books()), totals(&blinded));
    assert!(blind["ticks"].is_err());
    let with = sighted["interrupts"].clone().unwrap() + sighted["ticks"].clone().unwrap();
    assert_eq!(blind["interrupts"], Ok(with));
    assert_eq!(ledger(&blinded).unexplained_ns, ledger(&books()).unexplained_ns);
}

#[test]
fn without_control_groups_a_quotas_time_is_part_of_idle() {
    let blinded = without(&books(), "group");
    let (sighted, blind) = (totals(&books()), totals(&blinded));
    assert!(blind["cgroup-quota"].is_err());
    let with = sighted["idle"].clone().unwrap() + sighted["cgroup-quota"].clone().unwrap();
    assert_eq!(blind["idle"], Ok(with));
    assert_eq!(ledger(&blinded).unexplained_ns, ledger(&books()).unexplained_ns);
    let note = "idle time may hold time that a quota forced: cpu.stat of control groups is not in this copy of the host";
    assert!(ledger(&blinded).notes.contains(&note.to_owned()));
}
