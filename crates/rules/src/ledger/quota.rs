//! What CPU quotas of control groups took: idle time in which somebody was not allowed to run.
//!
//! `cpu.stat` adds up the time for which the run queues of a group were stopped, over all CPUs, when they go on again.
//! It is no more than the CPUs were idle, for who runs is not kept from running; and it is shared among the CPUs as
//! their idle time is, because the kernel does not say where it happened.

use super::amount::{Amount, part};
use super::books::Books;
use super::evidence::Evidence;
use crate::loss::Method;
use facts::{Fact, Missing};

/// The kernel's own period of a quota, which most groups keep (Documentation/scheduler/sched-bwc.rst): the time of a
/// queue that is stopped when a sample is taken is not yet counted.
const PERIOD_NS: u64 = 100_000_000;

const SOURCE: &str = "cpu.stat of control groups";

/// Enters the quota of each CPU.
pub(super) fn enter(evidence: &Evidence<'_>, books: &mut [Books<'_>]) {
    let throttled = throttled(evidence);
    let idle_ns = |books: &Books<'_>| books.idle.as_ref().map_or(0, |it| it.ns);
    let all = books.iter().map(idle_ns).fold(0, u64::saturating_add);
    for books in books {
        let quota = match (&throttled, &books.idle) {
            (Err(missing), _) | (Ok(1..), Err(missing)) => Err(missing.clone()),
            (Ok(throttled), _) => {
                let idle = idle_ns(books);
                let ns = part((*throttled).min(all), idle, all);
                let uncertainty_ns = if *throttled == 0 { 0 } else { PERIOD_NS.min(idle) };
                Ok(Amount { ns, uncertainty_ns, method: Method::Counter, source: SOURCE })
            }
        };
        books.enter_quota(quota);
    }
}

/// For how long quotas stopped run queues, in nanoseconds.
fn throttled(evidence: &Evidence<'_>) -> Fact<u64> {
    let before = evidence.interval.before.groups.as_ref()?;
    let after = evidence.interval.after.groups.as_ref()?;
    let mut sum = 0u64;
    for group in &after.list {
        let Some(earlier) = before.list.iter().find(|it| it.path == group.path) else { continue };
        let backwards = || {
            let found = format!("{} after {}", group.throttled_ns, earlier.throttled_ns);
            Missing::malformed(&group.path, &found, "a counter that does not go backwards")
        };
        let rise = group.throttled_ns.checked_sub(earlier.throttled_ns).ok_or_else(backwards)?;
        sum = sum.saturating_add(rise);
    }
    Ok(sum)
}
