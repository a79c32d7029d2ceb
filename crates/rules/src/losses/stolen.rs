//! `stolen`: time in which a hypervisor did not run a CPU that had work.
//!
//! Source: Documentation/filesystems/proc.rst, /proc/stat `steal`; the hypervisor reports it.

use crate::ledger::Books;
use crate::loss::{Entry, Kind, Loss, Party};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "stolen",
    title: "stolen by the hypervisor",
    kind: Kind::Lost,
    help: "\
## What it is
Time in which this guest's CPU had work and the hypervisor ran somebody else on the processor.

## How it is measured
By `steal` of /proc/stat, in steps of 10 ms. The hypervisor reports it; VMware, Hyper-V, VirtualBox, Parallels and bhyve
report none unless told to, and a 0 there is no answer. It is taken out of the tasks' time, as far as the kernel has not
done so itself (CONFIG_PARAVIRT_TIME_ACCOUNTING), and what is more than their time out of idle.

## What mends it
A dedicated or larger instance, pinned virtual CPUs, or fewer of them on that host.
",
    checks: &["stolen-time"],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    Ok(vec![books.stolen.clone()?.entry("", Some(Party::Hypervisor))])
}
