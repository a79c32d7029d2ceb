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
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let entries = books.tasks.as_ref()?.entries(Owner::Observer).into_iter();
    Ok(entries.map(|it| Entry { part: String::new(), ..it }).collect())
}
