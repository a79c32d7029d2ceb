//! `interrupts`: every interrupt but the CPU's own timer.
//!
//! Sources: irq:irq_handler_entry and _exit, irq_vectors:*, /proc/interrupts. A tracepoint does not see what entry and
//! exit of an interrupt take.

use crate::ledger::Books;
use crate::loss::{Entry, Kind, Loss};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "interrupts",
    title: "other interrupts",
    kind: Kind::Lost,
    help: "\
## What it is
The time in handlers of interrupts from devices and other CPUs, by name.

## How it is measured
By tracepoints on entry and exit of the handlers. Else, on a kernel with CONFIG_IRQ_TIME_ACCOUNTING, by `irq` of
/proc/stat; on others that field is a sample of the tick and is not used. Else by their number in /proc/interrupts times
what one costs by the gap probe, softirqs included. With none of these, they stay part of what they interrupt.

## What mends it
Interrupts of a device can be sent to other CPUs (/proc/irq/N/smp_affinity_list) and put together (ethtool -C).
",
    checks: &["irqs-on-isolated", "split-lock-penalty"],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let interrupts = books.interruptions.interrupts.clone()?;
    Ok(interrupts.into_iter().map(|it| it.amount.entry(it.name, None)).collect())
}
