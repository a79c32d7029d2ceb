//! `stat-interval`: how many seconds pass until each CPU adds its counts of memory to those of the host.
//!
//! Sources: Documentation/admin-guide/sysctl/vm.rst, mm/vmstat.c. What reads /proc/vmstat folds them at once,
//! whatever the interval.

use crate::check::Reference;
use crate::setting::{Effect, Planned, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::{asked, file};
use facts::Subjects;
use std::ops::RangeInclusive;

const PATH: &str = "/proc/sys/vm/stat_interval";

pub(super) const SETTING: Setting = Setting {
    id: "stat-interval",
    title: "how often memory statistics are folded",
    doc: "\
## What it changes
`vm.stat_interval`, in seconds. Every CPU that has changed its counts of memory runs a task of the kernel at this
interval to fold them into the totals.

## What it costs
Totals in /proc/vmstat and /proc/meminfo are up to so many seconds old, and so is what memory reclaim goes by.

## When to leave it alone
On hosts without isolated CPUs: one short task a second costs a busy core next to nothing.
",
    references: &[Reference {
        title: "Linux: Documentation for /proc/sys/vm/",
        url: "https://docs.kernel.org/admin-guide/sysctl/vm.html#stat-interval",
    }],
    takes: "seconds from 1 to 2147483",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "none",
    after: &["tuner"],
    fixes: &["vmstat-tick"],
    reads: &[PATH],
    looks_at: Subjects::NONE,
    plan,
};

/// More does not fit into the kernel's count of ticks at 1,000 a second (`proc_dointvec_jiffies` in kernel/sysctl.c);
/// none at all would have the task run without a pause.
const ACCEPTED: RangeInclusive<u64> = 1..=(i32::MAX as u64 / 1000);

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    let seconds = asked::number(&SETTING, wanted, ACCEPTED)?;
    file::set(scene, PATH, &seconds.to_string())
}
