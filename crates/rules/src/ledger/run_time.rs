//! The time of all tasks of one CPU together, which the kernel keeps besides each task's own.
//!
//! A sum over tasks lacks those that ended and puts those that moved on their last CPU; this one has neither fault.
//! Sources: cpuacct.usage_percpu of the root control group (Documentation/admin-guide/cgroup-v1/cpuacct.rst), which is
//! on the tasks' clock, and /proc/schedstat (Documentation/scheduler/sched-stats.rst), which is on the run queue's and
//! so only serves where the two clocks are the same.

use super::accounting::Accounting;
use super::evidence::Evidence;
use super::tasks::{Owner, Share, TaskTimes};
use facts::counters::Family;

/// Tasks that the samples do not show, as a part of a line.
const UNSEEN: &str = "tasks that ended or moved";

/// `times` with what the sum over all tasks of `cpu` says: more is that of tasks which nobody has seen and which
/// `owner` answers for; less takes from everybody alike, for some of their time was spent elsewhere.
pub(crate) fn settle(
    mut times: TaskTimes,
    evidence: &Evidence<'_>,
    accounting: &Accounting,
    cpu: u32,
    owner: Owner,
) -> TaskTimes {
    let Some(total_ns) = total(evidence, accounting, cpu) else { return times };
    let seen_ns = times.ns();
    let apart = total_ns.abs_diff(seen_ns);
    if seen_ns > total_ns {
        times = times.without(apart);
    } else if apart > 0 {
        times.shares.push(Share { owner, name: UNSEEN.to_owned(), ns: apart });
    }
    // The sum is sure, and whose it is, is not.
    times.uncertainty_ns = times.uncertainty_ns.max(apart);
    if owner == Owner::Asked {
        times.without_users = None;
    }
    times
}

fn total(evidence: &Evidence<'_>, accounting: &Accounting, cpu: u32) -> Option<u64> {
    let interval = &evidence.interval;
    let table = interval.after.table(Family::RunTime).ok()?;
    let same = |left_out: &facts::Fact<bool>| matches!(left_out, Ok(false));
    let same_clock = same(&accounting.leaves_out_interrupts) && same(&accounting.leaves_out_steal);
    if table.source().is_none() && !same_clock {
        return None;
    }
    let rise = interval.rise(Family::RunTime, cpu, "run").ok()?;
    let wall_ns = interval.elapsed_ns().ok()?;
    Some((rise.by as f64 * wall_ns as f64 / rise.over_ns as f64) as u64)
}
