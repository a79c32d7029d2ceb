//! `useful`: the time of the chosen tasks, at the reference clock.
//!
//! It is measured like any other line and never what the others leave: so the rest that is unexplained checks them all.

use crate::ledger::amount::part;
use crate::ledger::books::Books;
use crate::ledger::owner::Owner;
use crate::ledger::work::work;
use crate::loss::{Entry, Kind, Loss};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "useful",
    title: "useful work",
    kind: Kind::Useful,
    help: "\
## What it is
The time of the chosen processes, or of every task of a user where none was chosen, by name, as long as it would have
been at the reference clock. System calls and page faults of a task are its own. In a recording, and with `--server`, tasks of a
database are named by their role (docs/roles.md). `make (ended)` is what threads and children of make ran after they were sampled
last; `PostgreSQL backend (ended)` is what processes of the server ran that came and went unseen, most of which were backends.

## How it is measured
Run time as of `kernel-threads`, less interrupts and stolen time, times the effective clock over the reference clock. It
needs run times and a clock: where one is unknown, neither is this. It is never computed as what the other lines
leave.

## What fixes it
Nothing: more of it is what all other lines are about.
",
    checks: &[],
    of_parts: &[],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let work = work(books)?;
    let tasks = books.tasks.as_ref()?;
    let clock = books.clock.as_ref()?;
    let all = tasks.ns_of(Owner::Asked);
    let entries = tasks.of(Owner::Asked).zip(tasks.entries(Owner::Asked));
    let at_reference = |(share, entry): (&crate::ledger::tasks::Share, Entry)| Entry {
        ns: crate::ledger::amount::signed(part(work.useful_ns, share.ns, all)),
        method: entry.method.max(clock.method),
        uncertainty_ns: part(work.uncertainty_ns, share.ns, all),
        ..entry
    };
    Ok(entries.map(at_reference).collect())
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, ledger, loss, replaced, unexplained, untraced, without};

    #[test]
    fn interrupts_and_the_clocks_lines_make_it_what_the_scheduler_counts() {
        let task = "task 10 postgres 560000000";
        let text = replaced(SECOND, &[(task, &format!("{task} interrupts 300 13000000"))]);
        let ledger = ledger(&text);
        let sum = |id: &str| {
            let lines = ledger.lines.iter().filter(|it| it.loss.id == id);
            lines.map(|it| (*it.ns.as_ref().unwrap(), it.interrupted_ns)).next().unwrap()
        };
        let ((useful, interrupted), (slow, of_clock)) = (sum("useful"), sum("slow-clock"));
        assert_eq!((useful + slow, interrupted, of_clock), (560_000_000, Some(13_000_000), None));
    }

    #[test]
    fn a_task_that_was_born_between_the_samples_counts_from_its_birth() {
        let born = replaced(&untraced(), &[("task 10 10 postgres user 0 0 0\n", "")]);
        assert_eq!(loss("useful", &born), "postgres 462.4 ms ±8.0 by counter");
    }

    #[test]
    fn a_task_that_moved_is_uncertain_by_all_it_ran_where_not_all_cpus_are_accounted_for() {
        let moved = replaced(&untraced(), &[("postgres user 0 578", "postgres user 1 578")]);
        assert_eq!(loss("useful", &moved), "postgres 462.4 ms ±8.9 by counter");
        let text = replaced(&moved, &[("observer 20", "observer 20\ncpus 1")]);
        assert_eq!(loss("useful", &text), "postgres 462.4 ms ±586.6 by counter");
    }

    #[test]
    fn a_thread_that_ran_longer_than_time_passed_is_not_believed() {
        let text = replaced(&untraced(), &[("578000000", "5780000000")]);
        assert_eq!(loss("useful", &text), "0.0 ms by counter");
        assert_eq!(unexplained(&text), "600.000");
    }

    #[test]
    fn without_a_clock_it_is_unknown_and_not_what_is_left() {
        let text = without(SECOND, "Clocks");
        assert_eq!(
            loss("useful", &text),
            "unknown: APERF, MPERF and TSC is not in this copy of the host"
        );
        assert_eq!(unexplained(&text), "560.000");
    }
}
