//! `other-tasks`: tasks of users other than those that were asked for.
//!
//! Sources: as of `kernel-threads`.

use crate::ledger::Books;
use crate::ledger::tasks::Owner;
use crate::loss::{Entry, Kind, Loss};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "other-tasks",
    title: "other tasks",
    kind: Kind::Lost,
    help: "\
## What it is
The time of users' tasks that were not asked for, by name: what the CPUs gave to somebody else. Without `--pid` or a
command every task of a user counts as useful, and nothing is entered here.

## How it is measured
By traced switches; else by run times in /proc/PID/task/TID/schedstat, each on the CPU that the task last ran on. A task
that came and went between the samples shows in a trace only, and counts as somebody else's.

## What mends it
Other hours, other CPUs (cpusets, taskset), or a lower weight of their control group.
",
    checks: &[],
    of_parts: &[],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let tasks = books.tasks.as_ref()?;
    match &tasks.without_users {
        Some(missing) => Err(missing.clone()),
        None => Ok(tasks.entries(Owner::Other)),
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, loss, replaced, unexplained, without};

    const CHOSEN: &[(&str, &str)] = &[
        ("observer 20", "observer 20\nchosen 10"),
        ("task 10 postgres 560000000", "task 10 postgres 360000000\ntask 99 backup 200000000"),
    ];

    #[test]
    fn who_was_not_asked_for_is_shown_by_name() {
        let text = replaced(SECOND, CHOSEN);
        assert_eq!(loss("other-tasks", &text), "backup 200.0 ms by tracepoint");
        assert_eq!(unexplained(&text), "0.000");
    }

    #[test]
    fn without_a_choice_nobody_is_another() {
        assert_eq!(loss("other-tasks", SECOND), "0.0 ms by counter");
    }

    #[test]
    fn without_tasks_it_is_unknown() {
        let text = without(&replaced(SECOND, CHOSEN), "task");
        assert_eq!(
            loss("other-tasks", &text),
            "unknown: /proc/PID/schedstat is not in this copy of the host"
        );
    }
}
