//! The time of all tasks of one CPU together, which the kernel keeps in addition to each task's own, and what the kernel leaves out
//! of both.
//!
//! A sum over tasks lacks those that ended and puts those that moved on their last CPU; this one has neither fault.
//! Sources: cpuacct.usage_percpu of the root control group (Documentation/admin-guide/cgroup-v1/cpuacct.rst), which is
//! on the tasks' clock, and /proc/schedstat (Documentation/scheduler/sched-stats.rst), which is on the run queue's and
//! so only serves where the two clocks are the same.
//!
//! The task clock stands still in interrupts with CONFIG_IRQ_TIME_ACCOUNTING, unless `tsc=noirqtime` is on the boot line or
//! the TSC is unstable, and while the hypervisor runs something else with CONFIG_PARAVIRT_TIME_ACCOUNTING, unless
//! `no-steal-acc` is (update_rq_clock_task in kernel/sched/core.c). Traced time is wall time and leaves out neither.

use super::evidence::Evidence;
use super::idle_time::idle_time;
use facts::counters::Family;
use facts::{Fact, HostView, Missing};

/// How long all tasks of a CPU ran, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sum {
    /// As the kernel counted.
    OfTasks(u64),
    /// At most the time that was not idle: there is no sum over all tasks.
    NotIdle(u64),
}

impl Sum {
    pub(crate) fn ns(self) -> u64 {
        match self {
            Sum::OfTasks(ns) | Sum::NotIdle(ns) => ns,
        }
    }
}

/// How long all tasks of `cpu` ran; `None` where not even its idle time is known.
pub(crate) fn sum(evidence: &Evidence<'_>, accounting: &Accounting, cpu: u32) -> Option<Sum> {
    let not_idle = || {
        let wall_ns = evidence.interval.elapsed_ns().ok()?;
        let idle = idle_time(&evidence.interval, &evidence.traced_on(cpu), cpu, wall_ns).ok()?;
        Some(Sum::NotIdle(wall_ns.saturating_sub(idle.amount.ns)))
    };
    total(evidence, accounting, cpu).map(Sum::OfTasks).or_else(not_idle)
}

fn total(evidence: &Evidence<'_>, accounting: &Accounting, cpu: u32) -> Option<u64> {
    let interval = &evidence.interval;
    let table = interval.after.table(Family::RunTime).ok()?;
    let same = |left_out: &Fact<bool>| matches!(left_out, Ok(false));
    let same_clock = same(&accounting.leaves_out_interrupts) && same(&accounting.leaves_out_steal);
    if table.source().is_none() && !same_clock {
        return None;
    }
    let delta = interval.delta(Family::RunTime, cpu, "run").ok()?;
    let wall_ns = interval.elapsed_ns().ok()?;
    Some((delta.by as f64 * wall_ns as f64 / delta.over_ns as f64) as u64)
}

/// What a task's run time leaves out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Accounting {
    /// Whether interrupts and softirqs are left out.
    pub(crate) leaves_out_interrupts: Fact<bool>,
    /// Whether stolen time is left out.
    pub(crate) leaves_out_steal: Fact<bool>,
}

impl Accounting {
    /// By the configuration of the host's kernel and its boot line.
    pub(crate) fn of(host: &HostView) -> Accounting {
        let says = |option, off: fn(&HostView) -> bool| -> Fact<bool> {
            let config = host.kernel.config.as_ref().map_err(Missing::clone)?;
            Ok(config.has(option) && !off(host))
        };
        Accounting {
            leaves_out_interrupts: says("IRQ_TIME_ACCOUNTING", |it| {
                boots_with(it, |line| line.value("tsc") == Some("noirqtime"))
            }),
            leaves_out_steal: says("PARAVIRT_TIME_ACCOUNTING", |it| {
                boots_with(it, |line| line.has("no-steal-acc"))
            }),
        }
    }
}

fn boots_with(
    host: &HostView,
    wanted: impl Fn(&facts::system::boot_line::BootLine) -> bool,
) -> bool {
    host.kernel.boot_line.as_ref().is_ok_and(wanted)
}
