//! `measuring`: what this program itself took.
//!
//! Sources: as of `kernel-threads`. Interrupts that its reading causes on other CPUs are not told from others.

use crate::ledger::Books;
use crate::ledger::tasks::Owner;
use crate::loss::{Entry, Kind, Loss};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "measuring",
    title: "measuring",
    kind: Kind::Lost,
    help: "\
## What it is
The time of this program's own threads, the clock probe included.

## How it is measured
As that of any task. What tracepoints cost is in whatever was traced.

## What mends it
A longer interval, or fewer CPUs (`--cpus`).
",
    checks: &[],
    of_parts: &[],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let entries = books.tasks.as_ref()?.entries(Owner::Observer).into_iter();
    Ok(entries.map(|it| Entry { part: String::new(), ..it }).collect())
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, loss, replaced, without};

    #[test]
    fn its_own_threads_are_its_cost() {
        assert_eq!(loss("measuring", SECOND), "10.0 ms by tracepoint");
    }

    #[test]
    fn another_process_of_its_name_is_not() {
        let text = replaced(SECOND, &[("observer 20", "observer 21")]);
        assert_eq!(loss("measuring", &text), "0.0 ms by counter");
    }

    #[test]
    fn a_thread_of_its_own_that_came_and_went_is_its_cost_too() {
        let text = replaced(
            SECOND,
            &[(
                "task 20 fullclock 10000000",
                "task 20 fullclock 4000000\ntask 25 probe 6000000\nkin 25 20",
            )],
        );
        assert_eq!(loss("measuring", &text), "10.0 ms by tracepoint");
    }

    #[test]
    fn without_tasks_it_is_unknown() {
        assert_eq!(
            loss("measuring", &without(SECOND, "task")),
            "unknown: /proc/PID/schedstat is not in this copy of the host"
        );
    }
}
