//! `ticks`: interrupts of each CPU's own timer.
//!
//! Sources: irq_vectors:local_timer_entry and _exit, `LOC` of /proc/interrupts. The scheduler's tick and the timers of
//! programs are the same interrupt.

use crate::ledger::Books;
use crate::loss::{Entry, Kind, Loss};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "ticks",
    title: "timer ticks",
    kind: Kind::Lost,
    help: "\
## What it is
The time in handlers of the CPU's own timer interrupt: the scheduler's tick, and timers of programs, which use the same
interrupt.

## How it is measured
By tracepoints on entry and exit; what the kernel does before the first and after the second stays in the interrupted
task. Else by how many there were (`LOC` in /proc/interrupts) times what one costs by the gap probe, which is the whole
interruption, softirqs included. With neither, they stay part of what they interrupt.

## What mends it
`nohz_full=` for CPUs that run one task each, and `fullclock tick` to see what keeps the tick there. Elsewhere a lower
CONFIG_HZ.
",
    checks: &[
        "nmi-watchdog-tick",
        "vmstat-tick",
        "nohz-full-unsupported",
        "isolated-without-nohz-full",
        "nohz-full-ineffective",
    ],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let ticks = books.interruptions.ticks.clone()?;
    Ok(ticks.into_iter().map(|it| it.amount.entry("", None)).collect())
}
