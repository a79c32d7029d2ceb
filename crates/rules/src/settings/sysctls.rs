//! Sysctls of the kernel, each of the whole host.
//!
//! Sources: Documentation/admin-guide/sysctl/{kernel,vm}.rst, and those that each row names.

use super::{file, value};
use crate::check::Reference;
use crate::setting::{Effect, Planned, Risk, Scene, Scope, Setting, Survives, Wanted};
use facts::Subjects;
use std::ops::RangeInclusive;

/// Whether each CPU proves by a performance counter that it has not locked up.
///
/// Sources: Documentation/admin-guide/lockup-watchdogs.rst; kernel/watchdog.c. A kernel or a virtual machine without
/// a counter for it refuses to switch it on, which no file shows beforehand.
pub(super) const NMI_WATCHDOG: Setting = Setting {
    id: "nmi-watchdog",
    title: "the hard lockup detector",
    doc: "\
## What it changes
`kernel.nmi_watchdog`. The detector takes one performance counter of every CPU that it watches, and interrupts the CPU
some times a minute to see whether it still takes timer interrupts.

## What it costs
A CPU that hangs in the kernel with interrupts off is not noticed by Linux any more. A watchdog of the board still
restarts such a machine. One more performance counter is free for `perf`.

## When to leave it alone
Where lockups are being looked for, and where a cluster relies on the panic that `kernel.hardlockup_panic` makes of
them.
",
    references: &[Reference {
        title: "Linux: Softlockup detector and hardlockup detector",
        url: "https://docs.kernel.org/admin-guide/lockup-watchdogs.html",
    }],
    takes: "`on` or `off`",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "none that can be measured",
    after: &["tuner"],
    fixes: &["nmi-watchdog-tick"],
    reads: &["/proc/sys/kernel/nmi_watchdog"],
    looks_at: Subjects::NONE,
    plan: |scene, wanted| switch(&NMI_WATCHDOG, scene, wanted),
};

/// Whether the timers of a CPU that falls idle are run by one that is awake.
///
/// Sources: kernel/time/timer.c (`timer_migration_handler`), kernel/time/timer_migration.c. No file shows which timers are pinned
/// to their CPU whatever this says.
pub(super) const TIMER_MIGRATION: Setting = Setting {
    id: "timer-migration",
    title: "whether timers of idle CPUs move to busy ones",
    doc: "\
## What it changes
`kernel.timer_migration`. On, the kernel runs timers that are not bound to a CPU on one that is awake, so that idle
CPUs sleep on. Off, each CPU runs the timers that were started on it.

## What it costs
Off, idle CPUs are woken by their own timers and sleep less. On, a busy CPU is interrupted for others.

## When to leave it alone
Leave it on, unless a trace shows timers of other CPUs on one that must not be interrupted. With nohz_full CPUs leave it
on, too: it is what takes their timers to the others (`get_nohz_timer_target` in kernel/sched/core.c).
",
    references: &[Reference {
        title: "Linux: kernel/time/timer_migration.c",
        url: "https://github.com/torvalds/linux/blob/master/kernel/time/timer_migration.c",
    }],
    takes: "`on` or `off`",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "off, idle CPUs wake up more often",
    after: &["tuner"],
    fixes: &[],
    reads: &["/proc/sys/kernel/timer_migration"],
    looks_at: Subjects::NONE,
    plan: |scene, wanted| switch(&TIMER_MIGRATION, scene, wanted),
};

/// Whether a process that locks two cache lines at once is made to wait.
///
/// Source: arch/x86/kernel/cpu/bus_lock.c. Only the kernel's log shows whether any process does so.
pub(super) const SPLIT_LOCK_MITIGATE: Setting = Setting {
    id: "split-lock-mitigate",
    title: "whether a split lock puts its process to sleep",
    doc: "\
## What it changes
`kernel.split_lock_mitigate`. On, a process that does an atomic operation across two cache lines sleeps for 10 ms and
then runs alone among its like. Off, the kernel only logs it.

## What it costs
Off, one such program slows memory for every core while it does it. Nothing where no program does.

## When to leave it alone
Leave it on unless the log names the database (`split_lock trap`): then switch it off until the program is fixed. On a
host shared with untrusted programs, leave it on.
",
    references: &[Reference {
        title: "Linux: Documentation for /proc/sys/kernel/",
        url: "https://docs.kernel.org/admin-guide/sysctl/kernel.html",
    }],
    takes: "`on` or `off`",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "none",
    after: &["tuner"],
    fixes: &[],
    reads: &["/proc/sys/kernel/split_lock_mitigate"],
    looks_at: Subjects::NONE,
    plan: |scene, wanted| switch(&SPLIT_LOCK_MITIGATE, scene, wanted),
};

/// Writes 1 or 0 to the one file that the setting reads.
fn switch(setting: &Setting, scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(setting.id)?;
    let to = if value::switch(setting, wanted)? { "1" } else { "0" };
    file::set(scene, setting.reads[0], to)
}

/// How many seconds pass until each CPU adds its counts of memory to those of the host. A read of /proc/vmstat adds them
/// at once, whatever the interval.
///
/// Source: mm/vmstat.c.
pub(super) const STAT_INTERVAL: Setting = Setting {
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
    reads: &["/proc/sys/vm/stat_interval"],
    looks_at: Subjects::NONE,
    plan: stat_interval,
};

/// More does not fit into the kernel's count of ticks at 1,000 a second (`proc_dointvec_jiffies` in kernel/sysctl.c); at
/// 0 the task would run without a pause.
const ACCEPTED: RangeInclusive<u64> = 1..=(i32::MAX as u64 / 1000);

fn stat_interval(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(STAT_INTERVAL.id)?;
    let seconds = value::number(&STAT_INTERVAL, wanted, ACCEPTED)?;
    file::set(scene, STAT_INTERVAL.reads[0], &seconds.to_string())
}
