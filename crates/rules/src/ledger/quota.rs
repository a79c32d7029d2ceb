//! What CPU quotas of control groups took: idle time in which runnable tasks were not allowed to run.
//!
//! `cpu.stat` adds up the time for which the run queues of a group were stopped with tasks in them, over all CPUs, when
//! they go on again (unthrottle_cfs_rq in kernel/sched/fair.c); before Linux 6.6 also while no task was in them. It does
//! not say where that was, and a CPU may run other tasks during that time. A queue is stopped because its group has run on
//! that CPU, so the time is shared among all CPUs as the time of the chosen tasks is, or, where none of them
//! ran, as idle time is; and it is no more than a CPU's idle time. On a choice of CPUs it may be all or nothing, and what
//! others ran may be part of it.
//!
//! A quota holds for a group with all groups below it, as a pod's and its containers' do, and each counts the stops by its
//! own quota alone (throttle_cfs_rq). A queue may be stopped by its own quota and by its parent's at the same time, and so
//! may queues of sibling groups on one CPU: added up, one idle CPU would count twice. Of a group and those below it the
//! larger is taken. The kernel does not record which stops overlapped: all stops together took at least the time of the
//! longest, and at most the sum.

use super::amount::{Amount, Method, part, share};
use super::books::Books;
use super::evidence::Evidence;
use super::idle_time::idle_time;
use super::owner::Owner;
use super::tasks::{TaskTimes, is_asked};
use facts::counters::Groups;
use facts::{CpuSet, Fact, Missing};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The kernel's own period of a quota, which most groups keep (Documentation/scheduler/sched-bwc.rst): the time of a
/// queue that is stopped when a sample is taken is not yet counted.
const PERIOD_NS: u64 = 100_000_000;

const SOURCE: &str = "cpu.stat of control groups";

/// Enters the quota of each CPU.
pub(super) fn enter(evidence: &Evidence<'_>, books: &mut [Books<'_>]) {
    match throttled(evidence) {
        Ok(throttled) => enter_shares(evidence, throttled, books),
        Err(missing) => books.iter_mut().for_each(|it| it.enter_quota(Err(missing.clone()))),
    }
}

fn enter_shares(evidence: &Evidence<'_>, throttled: Throttled, books: &mut [Books<'_>]) {
    let mut idle = idle_elsewhere(evidence, books);
    let is_elsewhere = idle.values().any(|it| *it > 0);
    idle.extend(books.iter().map(|it| (it.cpu, idle_ns(it))));
    let shares = shared(throttled.ns, &ran(evidence), &idle);
    let here = books.iter().map(idle_ns).fold(0, u64::saturating_add);
    let others = books.iter().map(others_ns).fold(0, u64::saturating_add);
    for books in books {
        let idle = idle_ns(books);
        let ns = shares.get(&books.cpu).copied().unwrap_or(0);
        let busy_ns = part(others, idle, here).min(ns);
        let by_place_ns = if is_elsewhere { ns.max(idle.min(throttled.ns) - ns) } else { 0 };
        // Lines take errors of CPUs for independent: the squares of these add up to the error of all.
        let part_of_all = ns as f64 / throttled.ns.max(1) as f64;
        let at_once_ns = share(throttled.uncertainty_ns, part_of_all.sqrt());
        let off = PERIOD_NS.saturating_add(busy_ns.max(by_place_ns)).saturating_add(at_once_ns);
        let uncertainty_ns = if throttled.ns == 0 { 0 } else { off.min(idle) };
        let quota = match &books.idle {
            Err(missing) if throttled.ns > 0 => Err(missing.clone()),
            _ => Ok(Amount { ns, uncertainty_ns, method: Method::Counter, source: SOURCE }),
        };
        books.enter_quota(quota);
    }
}

/// `throttled` nanoseconds as shares of CPUs: as much as the chosen tasks `ran` on each, within its `idle`
/// time; and what is left as the idle time that is left.
fn shared(
    throttled: u64,
    ran: &BTreeMap<u32, u64>,
    idle: &BTreeMap<u32, u64>,
) -> BTreeMap<u32, u64> {
    let of = |map: &BTreeMap<u32, u64>, cpu: u32| map.get(&cpu).copied().unwrap_or(0);
    let ran_in_all = ran.values().copied().fold(0, u64::saturating_add);
    let by_run = |cpu| part(throttled, of(ran, cpu), ran_in_all);
    let mut shares: BTreeMap<u32, u64> =
        idle.iter().map(|(&cpu, &idle)| (cpu, by_run(cpu).min(idle))).collect();
    let sum = |map: &BTreeMap<u32, u64>| map.values().copied().fold(0, u64::saturating_add);
    let mut room = sum(idle).saturating_sub(sum(&shares));
    let mut left = throttled.saturating_sub(sum(&shares)).min(room);
    for (cpu, share) in &mut shares {
        let own_room = of(idle, *cpu).saturating_sub(*share);
        let more = part(left, own_room, room);
        *share = share.saturating_add(more);
        // What rounding leaves goes to the last CPU that has room.
        (left, room) = (left.saturating_sub(more), room.saturating_sub(own_room));
    }
    shares
}

fn idle_ns(books: &Books<'_>) -> u64 {
    books.idle.as_ref().map_or(0, |it| it.ns)
}

/// How long the chosen tasks ran, in nanoseconds, by the CPU that each was on last; empty where tasks were not
/// read.
fn ran(evidence: &Evidence<'_>) -> BTreeMap<u32, u64> {
    let (before, after) = (&evidence.interval.before.tasks, &evidence.interval.after.tasks);
    let (Ok(before), Ok(after)) = (before, after) else { return BTreeMap::new() };
    let mut ran: BTreeMap<u32, u64> = BTreeMap::new();
    for task in after.list.iter().filter(|it| is_asked(evidence, it)) {
        let earlier = before.get(task.tid).filter(|it| it.is_same(task));
        let delta = task.run_ns.saturating_sub(earlier.map_or(0, |it| it.run_ns));
        let sum = ran.entry(task.cpu).or_default();
        *sum = sum.saturating_add(delta);
    }
    ran
}

/// How long other tasks ran: a queue may have been stopped during that time.
fn others_ns(books: &Books<'_>) -> u64 {
    let owners = [Owner::Kernel, Owner::Observer, Owner::Other];
    let ran = |tasks: &TaskTimes| {
        owners.iter().fold(0u64, |sum, owner| sum.saturating_add(tasks.ns_of(*owner)))
    };
    books.tasks.as_ref().map_or(0, ran)
}

/// The idle time of each CPU that is not accounted for, in nanoseconds.
fn idle_elsewhere(evidence: &Evidence<'_>, books: &[Books<'_>]) -> BTreeMap<u32, u64> {
    let wall_ns = evidence.interval.elapsed_ns().unwrap_or(0);
    let here: CpuSet = books.iter().map(|it| it.cpu).collect();
    let idle = |cpu| {
        let idle = idle_time(&evidence.interval, &evidence.traced_on(cpu), cpu, wall_ns);
        (cpu, idle.map_or(0, |it| it.amount.ns))
    };
    evidence.interval.cpus().minus(&here).iter().map(idle).collect()
}

/// The notes about quotas that were counted.
pub(super) fn notes(evidence: &Evidence<'_>, cpus: &CpuSet) -> Vec<String> {
    let mut notes = Vec::new();
    let (Ok(before), Ok(after)) =
        (&evidence.interval.before.groups, &evidence.interval.after.groups)
    else {
        return notes;
    };
    let lacks = |groups: &Groups, path: &str| !groups.list.iter().any(|it| it.path == path);
    let of_one_end = |these: &Groups, others: &Groups| -> Vec<String> {
        these.list.iter().map(|it| it.path.clone()).filter(|it| lacks(others, it)).collect()
    };
    let once = [of_one_end(before, after), of_one_end(after, before)].concat();
    if !once.is_empty() {
        let groups = once.join(", ");
        notes.push(format!(
            "control groups that could be read at one end only: {groups}: what their quota took is unknown, and part of idle"
        ));
    }
    let elsewhere = evidence.interval.cpus().minus(cpus);
    if !elsewhere.is_empty() && throttled(evidence).is_ok_and(|it| it.ns > 0) {
        notes.push(format!(
            "the kernel does not say where a quota stopped a group: some of its time may belong to {}, or some of theirs here",
            elsewhere.named()
        ));
    }
    notes
}

/// The time for which queues were stopped, in nanoseconds of all CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Throttled {
    /// Without what stood still for a group and for one below it.
    pub(super) ns: u64,
    /// How far off that may be either way, because groups may have been stopped at the same time, or not.
    pub(super) uncertainty_ns: u64,
}

/// What `cpu.stat` of the groups of both ends counts; an error where one goes backwards.
pub(super) fn throttled(evidence: &Evidence<'_>) -> Fact<Throttled> {
    let before = evidence.interval.before.groups.as_ref()?;
    let after = evidence.interval.after.groups.as_ref()?;
    let mut stops = Vec::new();
    for group in &after.list {
        let Some(earlier) = before.list.iter().find(|it| it.path == group.path) else { continue };
        let backwards = || {
            let found = format!("{} after {}", group.throttled_ns, earlier.throttled_ns);
            Missing::malformed(&group.path, &found, "a counter that does not go backwards")
        };
        let delta = group.throttled_ns.checked_sub(earlier.throttled_ns).ok_or_else(backwards)?;
        stops.push((group.path.as_str(), delta));
    }
    Ok(together(stops))
}

/// The stops of groups, each a path and nanoseconds, as one time.
fn together(mut stops: Vec<(&str, u64)>) -> Throttled {
    // What is below a group is known before the group, and its parent is the first above it.
    stops.sort_unstable_by_key(|(path, _)| Reverse(path.len()));
    let mut below = vec![0u64; stops.len()];
    let (mut ns, mut most, mut least) = (0u64, 0u64, 0u64);
    for (at, &(path, own)) in stops.iter().enumerate() {
        let larger = below[at].max(own);
        let parent = (at + 1..stops.len()).find(|it| is_below(path, stops[*it].0));
        let sum = parent.map_or(&mut ns, |it| &mut below[it]);
        *sum = sum.saturating_add(larger);
        most = most.saturating_add(own);
        least = least.max(own);
    }
    let uncertainty_ns = most.saturating_sub(ns).max(ns.saturating_sub(least));
    Throttled { ns, uncertainty_ns }
}

fn is_below(path: &str, group: &str) -> bool {
    let rest = path.strip_prefix(group.trim_end_matches('/'));
    rest.is_some_and(|it| it.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stops: &[(&str, u64)]) -> (u64, u64) {
        let Throttled { ns, uncertainty_ns } = together(stops.to_vec());
        (ns, uncertainty_ns)
    }

    #[test]
    fn one_group_is_what_it_says() {
        assert_eq!(of(&[("/db", 7)]), (7, 0));
        assert_eq!(of(&[]), (0, 0));
    }

    #[test]
    fn of_a_pod_and_its_container_the_larger_is_taken_and_the_sum_is_possible() {
        assert_eq!(of(&[("/pod", 50), ("/pod/db", 30)]), (50, 30));
        assert_eq!(of(&[("/pod/slice/db", 50), ("/pod", 30), ("/pod/slice", 0)]), (50, 30));
        assert_eq!(of(&[("/", 50), ("/db", 50)]), (50, 50));
    }

    #[test]
    fn groups_side_by_side_are_added_up_and_the_longest_alone_is_possible() {
        assert_eq!(of(&[("/db", 50), ("/db2", 30)]), (80, 30));
    }

    #[test]
    fn containers_that_stood_longer_than_their_pod_speak_for_it() {
        let stops = [("/pod", 50), ("/pod/a", 30), ("/pod/b", 40), ("/other", 10)];
        assert_eq!(of(&stops), (80, 50));
    }

    #[test]
    fn nonsense_does_not_overflow() {
        assert_eq!(of(&[("/a", u64::MAX), ("/b", u64::MAX)]), (u64::MAX, 0));
    }
}
