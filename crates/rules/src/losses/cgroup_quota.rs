//! `cgroup-quota`: idle time in which a CPU quota did not let tasks run.
//!
//! Source: Documentation/admin-guide/cgroup-v2.rst, "CPU Interface Files". See `ledger::quota` for how a group's time is
//! shared among CPUs, which the kernel does not count.

use crate::ledger::books::Books;
use crate::loss::{Entry, Kind, Loss, Party};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "cgroup-quota",
    title: "idle by a CPU quota",
    kind: Kind::Lost,
    help: "\
## What it is
Time in which a CPU was idle while tasks wanted it, because their control group had used up its quota (`cpu.max`, or
`cpu.cfs_quota_us`).

## How it is measured
By `throttled_usec` (version 1: `throttled_time`) of the groups with a quota: the time for which their run queues were
stopped, on all CPUs together. Of a group and those below it the larger is taken, because a pod and its container may have
been stopped at the same time; the sum is possible too. It is entered up to the time that the CPUs were idle, and taken
out of idle; CPUs share it as they share idle time, because the kernel does not say where it happened: on a choice of CPUs
it may be all of it or nothing, and where others ran meanwhile it was not idle time. All of that is in the uncertainty.
Time of a queue that is stopped while the sample is taken is not in it.

## What fixes it
A higher quota or none, or fewer threads: a group with many threads uses its quota up early in each period.
",
    checks: &["cgroup-quota-throttling"],
    of_parts: &[],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    Ok(vec![books.quota.clone()?.entry("", Some(Party::OperatingSystem))])
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, ledger, loss, replaced, unexplained};

    const QUOTA: &[(&str, &str)] = &[
        ("groups\n//- after", "groups\ngroup /db 1000000000\n//- after"),
        ("groups\n//- seen", "groups\ngroup /db 1258000000\n//- seen"),
    ];

    #[test]
    fn throttled_time_is_carved_out_of_the_idle_time_of_the_cpu_where_its_tasks_ran() {
        let text = replaced(SECOND, QUOTA);
        assert_eq!(loss("cgroup-quota", &text), "258.0 ms ±160.9 by counter, operating system");
        assert_eq!(loss("idle", &text), "1032.0 ms by counter");
        assert_eq!(unexplained(&text), "0.000");
    }

    #[test]
    fn a_quota_takes_no_more_than_the_cpus_were_idle() {
        let text = replaced(&replaced(SECOND, QUOTA), &[("1258000000", "9258000000")]);
        assert_eq!(loss("cgroup-quota", &text), "1290.0 ms ±223.0 by counter, operating system");
        assert_eq!(loss("idle", &text), "0.0 ms by counter");
    }

    #[test]
    fn a_pod_and_its_container_that_stood_still_for_their_quotas_are_not_added_up() {
        let text = replaced(
            &replaced(SECOND, QUOTA),
            &[
                ("group /db 1000000000", "group /db 1000000000\ngroup /db/server 0"),
                ("group /db 1258000000", "group /db 1258000000\ngroup /db/server 40000000"),
            ],
        );
        assert_eq!(loss("cgroup-quota", &text), "258.0 ms ±193.8 by counter, operating system");
        assert_eq!(loss("idle", &text), "1032.0 ms by counter");
    }

    #[test]
    fn on_a_choice_of_cpus_it_may_be_all_of_theirs_or_nothing() {
        let text = replaced(&replaced(SECOND, QUOTA), &[("observer 20", "observer 20\ncpus 0")]);
        // The tasks ran on CPU 0, which has all of the 258 ms by that, and may have none; a period may not have ended.
        assert_eq!(loss("cgroup-quota", &text), "258.0 ms ±305.0 by counter, operating system");
        let note = "the kernel does not say where a quota stopped a group: some of its time may belong to CPU 1, or some of theirs here";
        assert!(ledger(&text).notes.contains(&note.to_owned()), "{:?}", ledger(&text).notes);
    }

    #[test]
    fn a_group_that_came_in_the_interval_is_told_of() {
        let text = replaced(SECOND, &QUOTA[1..]);
        assert_eq!(loss("cgroup-quota", &text), "0.0 ms by counter, operating system");
        let note = "control groups that could be read at one end only: /db: what their quota took is unknown, and part of idle";
        assert_eq!(ledger(&text).notes, [note]);
    }

    #[test]
    fn a_count_that_goes_back_is_unknown() {
        let text = replaced(&replaced(SECOND, QUOTA), &[("1258000000", "258")]);
        assert_eq!(
            loss("cgroup-quota", &text),
            "unknown: /db: found \"258 after 1000000000\", expected a counter that does not go backwards"
        );
    }
}
