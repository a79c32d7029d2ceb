//! `cgroup-quota`: idle time in which a CPU quota did not let tasks run.
//!
//! Source: Documentation/admin-guide/cgroup-v2.rst, "CPU Interface Files". See `ledger::quota` for how a group's time is
//! shared among CPUs, which the kernel does not tell.

use crate::ledger::Books;
use crate::loss::{Entry, Kind, Loss, Party};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "cgroup-quota",
    title: "idle by a CPU quota",
    kind: Kind::Lost,
    help: "\
## What it is
Time in which a CPU was idle while tasks wanted it, because their control group had used up its quota (`cpu.max`, or
`cpu.cfs_quota_us`).

## How it is measured
By `throttled_usec` (version 1: `throttled_time`) of the groups with a quota: the time for which their run queues were
stopped, on all CPUs together. It is entered up to the time that the CPUs were idle, and taken out of idle; CPUs share
it as they share idle time, because the kernel does not say where it happened. Time of a queue that is stopped while the
sample is taken is not in it.

## What mends it
A higher quota or none, or fewer threads: a group with many threads uses its quota up early in each period.
",
    checks: &["cgroup-quota-throttling"],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    Ok(vec![books.quota.clone()?.entry("", Some(Party::OperatingSystem))])
}
