//! `kernel-threads`: threads of the kernel, by name.
//!
//! Sources: sched:sched_switch, /proc/PID/schedstat. Whether a task is a thread of the kernel is /proc/PID/stat's word.

use crate::ledger::Books;
use crate::ledger::tasks::Owner;
use crate::loss::{Entry, Kind, Loss};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "kernel-threads",
    title: "kernel threads",
    kind: Kind::Lost,
    help: "\
## What it is
The time of the kernel's own threads, by name: kipmi0 (the management controller's interface), kworker, kswapd0, migration.

## How it is measured
By traced switches, less interrupts and stolen time; else by the threads' run time in /proc/PID/schedstat, each on the
CPU it last ran on. Work that the kernel does in a task's name (system calls, page faults) is that task's.

## What mends it
kipmi0: `fullclock explain kipmid-busy`. Others can often be kept off CPUs: `isolcpus=`, or their affinity.
",
    checks: &["kipmid-busy", "ipmi-without-interrupt", "vmstat-tick"],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    Ok(books.tasks.as_ref()?.entries(Owner::Kernel))
}
