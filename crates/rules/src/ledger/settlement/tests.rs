//! Tasks' run times, settled.

use crate::fixture::books::{SECOND, ledger, loss, replaced, unexplained, untraced};
use std::collections::BTreeMap;

/// The text with the run time of all tasks at both ends, on a host whose two clocks are the same.
fn with_sum(text: &str, ns: &str) -> String {
    replaced(
        text,
        &[
            ("groups\n//- after", "RunTime run\n0 0\n1 0\ngroups\n//- after"),
            ("groups\n//- seen", &format!("RunTime run\n0 {ns}\n1 0\ngroups\n//- seen")),
            ("CONFIG_HZ=250", "CONFIG_HZ=250\n# CONFIG_PARAVIRT_TIME_ACCOUNTING is not set"),
        ],
    )
}

#[test]
fn what_no_task_accounts_for_is_that_of_tasks_that_ended_or_moved() {
    let useful = loss("useful", &with_sum(&untraced(), "700000000"));
    assert!(useful.contains("tasks that ended or moved"), "{useful}");
    assert!(!loss("useful", &untraced()).contains("tasks that ended or moved"));
}

#[test]
fn what_ended_tasks_of_the_chosen_ran_is_theirs_and_no_more_of_it() {
    let with_ended = |ns: &str| {
        let ended = format!("observer 20\nchosen 10\nended {ns}");
        replaced(&with_sum(&untraced(), "700000000"), &[("observer 20", &ended)])
    };
    let unseen = "tasks that ended or moved";
    assert!(loss("other-tasks", &with_ended("0")).contains(unseen));
    let all = with_ended("999000000");
    assert!(!loss("other-tasks", &all).contains(unseen), "{}", loss("other-tasks", &all));
    assert!(loss("useful", &all).contains("tasks that ended"), "{}", loss("useful", &all));
    let some = with_ended("1000000");
    assert!(loss("other-tasks", &some).contains(unseen), "{}", loss("other-tasks", &some));
    assert!(loss("useful", &some).contains("tasks that ended"), "{}", loss("useful", &some));
}

#[test]
fn what_ended_tasks_of_the_chosen_are_known_to_have_run_takes_a_twentieth_of_strangers_time_at_most()
 {
    let text = |ended: &str| {
        let observer = format!("observer 20\nchosen 11\nended {ended}");
        replaced(&with_sum(&untraced(), "700000000"), &[("observer 20", &observer)])
    };
    // postgres is a stranger, whose own count and those of the others leave 12 ms.
    let (useful, others) =
        (loss("useful", &text("500000000")), loss("other-tasks", &text("500000000")));
    assert!(useful.starts_with("tasks that ended 32.7 ms"), "{useful}");
    // Of 578 ms, 28.9 are taken, and are unsure as well as what the tick makes so.
    assert!(others.starts_with("postgres 549.1 ms ±32.0"), "{others}");
    let unsure = loss("useful", &text("500000000 495000000"));
    assert!(unsure.starts_with("tasks that ended 9."), "{unsure}");
    assert_eq!(unexplained(&text("500000000")), unexplained(&text("0")));
}

#[test]
fn more_than_all_tasks_ran_is_taken_from_everybody_alike() {
    // The tasks' own counts add up to 688 ms.
    let text = with_sum(&untraced(), "344000000");
    assert!(loss("kernel-threads", &text).starts_with("kipmi0 50.0 ms"));
}

#[test]
fn without_a_sum_ended_tasks_of_the_chosen_fill_no_more_than_what_was_not_idle() {
    let ran = |ns: &str| {
        let ended = format!("observer 20\nchosen 10\nended {ns}");
        replaced(&untraced(), &[("observer 20", &ended)])
    };
    let nothing = loss("useful", &ran("0"));
    assert!(!nothing.contains("tasks that ended"), "{nothing}");
    let part = loss("useful", &ran("2000000"));
    // Of 2 ms, at the clock of this CPU.
    assert!(part.contains("tasks that ended 1.6 ms"), "{part}");
    assert_eq!(loss("useful", &ran("9000000000")), loss("useful", &ran("2000000000")));
    // In milliseconds.
    assert_eq!(unexplained(&ran("0")), "22.000");
    assert_eq!(unexplained(&ran("9000000000")), "0.000");
}

const LOST: &[(&str, &str)] =
    &[("task 10 postgres 560000000", "task 10 postgres 460000000\nlost 1 100000000")];

#[test]
fn a_trace_that_lost_sight_of_a_task_is_told_of_its_time_and_of_no_more() {
    // Tasks ended, so that their own counts lack more than the trace does.
    let ended = ("postgres user 0 578000000", "postgres user 0 78000000");
    let lost = replaced(SECOND, &[LOST, &[ended]].concat());
    let part = |ns: &str| loss("useful", &with_sum(&lost, ns));
    assert!(part("687000000").contains("tasks that no trace shows"), "{}", part("687000000"));
    assert!(!part("587000000").contains("tasks that no trace shows"));
}

#[test]
fn time_that_a_trace_gave_to_a_stranger_is_that_of_the_chosen_who_are_known_to_have_run() {
    let counts = ("postgres user 0 578000000", "postgres user 0 78000000");
    let text = |ended: &str| {
        let observer = format!("observer 20\nchosen 11\nended {ended}");
        with_sum(
            &replaced(SECOND, &[LOST, &[counts, ("observer 20", &observer)]].concat()),
            "687000000",
        )
    };
    let others = |ended: &str| loss("other-tasks", &text(ended));
    // The trace lost sight of 100 ms, and has 460 ms of postgres.
    assert!(others("100000000").starts_with("postgres 460.0 ms"), "{}", others("100000000"));
    assert!(others("115000000").starts_with("postgres 445.0 ms"), "{}", others("115000000"));
    assert!(others("900000000").starts_with("postgres 437.0 ms"), "{}", others("900000000"));
    assert_eq!(unexplained(&text("115000000")), unexplained(&text("100000000")));
}

#[test]
fn what_a_trace_gave_to_a_preempted_stranger_is_that_of_the_one_who_was_counted_to_have_run() {
    let text = |count: &str, exits: &str| {
        let changes = [
            ("task 10 postgres 560000000", "task 10 postgres 460000000\ntask 12 gzip 100000000"),
            ("postgres user 0 578000000 900000000", count),
            (
                "task 20 20 fullclock user 0 0 0",
                "task 12 12 gzip user 0 0 0\ntask 20 20 fullclock user 0 0 0",
            ),
            ("observer 20", "observer 20\nchosen 11"),
        ];
        replaced(&replaced(SECOND, &changes), &[("observer 20", &format!("observer 20{exits}"))])
    };
    let gzip = "\ntask 12 12 gzip user 0 60000000 0";
    let both = text(&format!("postgres user 0 500000000 0{gzip}"), "");
    let others = loss("other-tasks", &both);
    assert!(others.contains("postgres 500.0 ms") && others.contains("gzip 60.0 ms"), "{others}");
    // Of one that ended the kernel reports.
    let ended = text("postgres user 0 500000000 0", "\nexit 12 12 1 60000000 0");
    assert_eq!(loss("other-tasks", &ended), others);
    let right = text(&format!("postgres user 0 460000000 0{}", gzip.replace("60", "100")), "");
    let others = loss("other-tasks", &right);
    assert!(others.contains("postgres 460.0 ms") && others.contains("gzip 100.0 ms"), "{others}");
    assert_eq!(unexplained(&both), unexplained(&right));
}

#[test]
fn what_a_trace_gave_to_a_chosen_task_is_the_strangers_who_was_counted_to_have_run() {
    let text = |postgres: &str, gzip: &str| {
        let counts = format!("postgres user 0 {postgres} 0\ntask 12 12 gzip user 0 {gzip} 0");
        let changes = [
            ("task 10 postgres 560000000", "task 10 postgres 460000000\ntask 12 gzip 100000000"),
            ("postgres user 0 578000000 900000000", &*counts),
            (
                "task 20 20 fullclock user 0 0 0",
                "task 12 12 gzip user 0 0 0\ntask 20 20 fullclock user 0 0 0",
            ),
        ];
        replaced(SECOND, &changes)
    };
    let others = |text: &str| {
        let chosen = ("observer 20", "observer 20\nchosen 10\nended 0");
        loss("other-tasks", &replaced(text, &[chosen]))
    };
    let right = text("460000000", "100000000");
    assert!(others(&right).contains("gzip 100.0 ms"), "{}", others(&right));
    let preempted = text("400000000", "140000000");
    assert!(others(&preempted).contains("gzip 140.0 ms"), "{}", others(&preempted));
    assert_eq!(chosen(&right).0 - chosen(&preempted).0, 40_000_000);
    assert_eq!(unexplained(&preempted), unexplained(&right));
}

#[test]
fn the_tasks_own_counts_are_better_than_a_trace_that_lost_sight_of_more() {
    let useful = loss("useful", &with_sum(&replaced(SECOND, LOST), "688000000"));
    assert!(useful.contains("by counter"), "{useful}");
    let useful = loss("useful", &replaced(SECOND, LOST));
    assert!(!useful.contains("by counter"), "{useful}");
}

#[test]
fn a_sum_on_another_clock_is_left_alone() {
    let text = replaced(
        &with_sum(&untraced(), "700000000"),
        &[("# CONFIG_IRQ_TIME_ACCOUNTING is not set", "CONFIG_IRQ_TIME_ACCOUNTING=y")],
    );
    assert!(!loss("useful", &text).contains("ended or moved"));
}

/// Postgres ran 578 ms and was last on CPU 1, which its sum says ran nothing for long.
fn moved(sums: [&str; 2]) -> String {
    let text = with_sum(&untraced(), sums[0]);
    let text = replaced(&text, &[("postgres user 0 578", "postgres user 1 578")]);
    let after = format!("RunTime run\n0 {}\n1 0", sums[0]);
    replaced(&text, &[(&after, &format!("RunTime run\n0 {}\n1 {}", sums[0], sums[1]))])
}

/// The time of the chosen process at its own clock, on both CPUs together and on each, in nanoseconds.
fn chosen(text: &str) -> (i64, Vec<(u32, i64)>) {
    let text = replaced(text, &[("observer 20", "observer 20\nchosen 10\nended 0")]);
    let ledger = ledger(&text);
    let parts = |id: &'static str| ledger.lines.iter().filter(move |it| it.loss.id == id);
    let mut cpus: BTreeMap<u32, i64> = BTreeMap::new();
    for (cpu, ns) in ["useful", "slow-clock"].into_iter().flat_map(parts).flat_map(|it| &it.cpus) {
        *cpus.entry(*cpu).or_default() += ns;
    }
    (cpus.values().sum(), cpus.into_iter().collect())
}

#[test]
fn what_is_too_much_on_one_cpu_ran_on_another_and_none_of_it_is_lost() {
    let (all, cpus) = chosen(&moved(["500000000", "188000000"]));
    assert_eq!(all, 578_000_000);
    assert_eq!(cpus, [(0, 390_000_000), (1, 188_000_000)]);
    let other = loss("other-tasks", &moved(["500000000", "188000000"]));
    assert!(!other.contains("ended"), "{other}");
}

#[test]
fn without_a_sum_what_is_too_much_goes_where_the_cpu_was_not_idle() {
    let text = replaced(&untraced(), &[("postgres user 0 578", "postgres user 1 578")]);
    let (all, cpus) = chosen(&text);
    assert_eq!(all, 578_000_000);
    // CPU 1 was idle for 985 ms.
    assert_eq!(cpus[1], (1, 15_000_000));
}

#[test]
fn a_cpu_that_is_not_accounted_for_may_have_had_what_is_too_much() {
    let text =
        replaced(&moved(["500000000", "188000000"]), &[("observer 20", "observer 20\ncpus 1")]);
    let (all, _) = chosen(&text);
    assert_eq!(all, 188_000_000);
}

#[test]
fn what_a_trace_lost_of_a_command_is_the_commands_and_no_more() {
    let traced = |ended: &str| {
        let lost = ("task 10 postgres 560000000", "task 10 postgres 160000000\nlost 0 400000000");
        let text = replaced(&with_sum(SECOND, "688000000"), &[lost]);
        let chosen = format!("observer 20\nchosen 10\nended {ended}");
        replaced(&text, &[("observer 20", &chosen), ("user 0 578000000", "user 0 78000000")])
    };
    let unseen = "tasks that no trace shows";
    let all = traced("500000000");
    assert!(loss("useful", &all).contains(unseen), "{}", loss("useful", &all));
    assert!(!loss("other-tasks", &all).contains(unseen), "{}", loss("other-tasks", &all));
    // It ran 182 ms, of which the trace shows 160 ms and what interrupted them.
    let little = traced("104000000");
    assert!(loss("other-tasks", &little).contains(unseen), "{}", loss("other-tasks", &little));
    assert_eq!(unexplained(&all), unexplained(&little));
}
