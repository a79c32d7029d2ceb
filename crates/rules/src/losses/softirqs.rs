//! `softirqs`: the work that interrupts leave for later.
//!
//! Sources: irq:softirq_entry and _exit, /proc/stat `softirq`. Softirqs that the thread ksoftirqd runs are among them.

use crate::ledger::Books;
use crate::loss::{Entry, Kind, Loss};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "softirqs",
    title: "softirqs",
    kind: Kind::Lost,
    help: "\
## What it is
The time in softirqs, by kind: network packets (NET_RX), timers, RCU, the scheduler's balancing.

## How it is measured
By tracepoints on entry and exit, in ksoftirqd too. Else, on a kernel with CONFIG_IRQ_TIME_ACCOUNTING, by `softirq` of
/proc/stat, which leaves out ksoftirqd. With neither, their time is in the cost of the interrupts that raised them, or
stays part of what they interrupt.

## What mends it
NET_RX: spread a network card's queues, or keep them off the CPUs of the database. RCU: `rcu_nocbs=`.
",
    checks: &["rcu-callbacks-on-isolated", "irqs-on-isolated"],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let softirqs = books.interruptions.softirqs.clone()?;
    Ok(softirqs.into_iter().map(|it| it.amount.entry(it.name, None)).collect())
}
