//! `idle`: time in which a CPU had nothing to do.
//!
//! See `ledger::idle_time` for the sources, and which is believed when.

use crate::ledger::Books;
use crate::loss::{Entry, Kind, Loss};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "idle",
    title: "idle",
    kind: Kind::Idle,
    help: "\
## What it is
Time in which no task wanted the CPU. Nothing is lost.

## How it is measured
By cpuidle's `time` of all states, POLL included; else by `idle_sleeptime` and `iowait_sleeptime` of
/proc/timer_list; else by the traced time of the idle task; else by `idle` and `iowait` of /proc/stat, in steps of
10 ms. The first two leave out a sleep that goes on while they are read, and are given up where /proc/stat, which
counts it, contradicts them. Interrupts that came in a sleep, idle time that a quota forced, and idle time that a thread
of the kernel forces to cool the machine are entered elsewhere.

## What mends it
Nothing: it is capacity to spare. Tasks that wait although CPUs are idle are shown beside the ledger, with `--pid`.
",
    checks: &[],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    Ok(vec![books.idle.clone()?.entry("", None)])
}
