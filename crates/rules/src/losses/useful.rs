//! `useful`: the time of the tasks that were asked for, at the reference clock.
//!
//! It is measured like any other line and never what the others leave: so the rest that is unexplained checks them all.

use crate::ledger::Books;
use crate::ledger::amount::part;
use crate::ledger::tasks::Owner;
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
been at the reference clock. System calls and page faults of a task are its own.

## How it is measured
Run time as of `kernel-threads`, less interrupts and stolen time, times the effective clock over the reference clock. It
needs run times and a clock: where one is not known, neither is this. It is never computed as what the other lines
leave.

## What mends it
Nothing: more of it is what all other lines are about.
",
    checks: &[],
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
