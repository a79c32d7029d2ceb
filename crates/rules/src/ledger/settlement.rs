//! The tasks' own run times, held against the time of all tasks of each CPU, and what a trace lost sight of.
//!
//! A task's run time is entered on the CPU that it last ran on. Where all CPUs of the machine are accounted for, what is too much
//! on one of them ran on others: it goes to those whose tasks ran for longer than is known, so that the run time of a task over
//! all CPUs stays what the kernel counted of it. What is then left without a task was that of tasks that ended.

mod counts;

use super::amount::part;
use super::evidence::{EndedTasks, Evidence};
use super::owner::Owner;
use super::run_time::{Accounting, Sum, sum};
use super::stolen::stolen;
use super::tasks::{Interrupted, Share, TaskIndex, TaskTimes};
use facts::trace::CpuTotals;
use facts::{CpuSet, Fact};
use std::collections::BTreeMap;

/// Tasks that the samples do not show, as a part of a line.
const UNSEEN: &str = "tasks that ended or moved";
/// Tasks of the chosen processes that the samples do not show, as a part of a line.
const ENDED: &str = "tasks that ended";
/// Tasks of users, where only threads of the kernel were sampled.
const NOT_SAMPLED: &str = "tasks of users, not recorded";
/// Tasks of which a trace lost sight, as a part of a line.
const UNTRACED: &str = "tasks that no trace shows";

/// The tasks of each CPU by the better of the two sources, and whether that is a trace.
pub(crate) struct Settlement {
    cpus: BTreeMap<u32, (TaskTimes, bool)>,
    /// How long tasks of the chosen processes ran of which the trace lost sight, in nanoseconds.
    untraced_ns: u64,
}

impl Settlement {
    /// Of every CPU that was online at both ends.
    pub(crate) fn of(
        evidence: &Evidence<'_>,
        accounting: &Accounting,
        index: &TaskIndex,
    ) -> Settlement {
        let Ok(wall_ns) = evidence.interval.elapsed_ns() else {
            return Settlement { cpus: BTreeMap::new(), untraced_ns: 0 };
        };
        let scope = Scope { evidence, accounting, index, wall_ns };
        let cpus = evidence.cpus.and(&evidence.interval.cpus());
        let counted = scope.counted(&cpus);
        let mut traced = scope.traced(&cpus);
        scope.hold_to_counts(&cpus, &mut traced);
        let by_counts = scope.better_by_counts(&counted, &traced);
        let untraced_ns = traced.values().map(|it| it.own_ns).fold(0, u64::saturating_add);
        let untraced_ns = if by_counts.is_empty() { untraced_ns } else { 0 };
        let best = counted.into_iter().map(|(cpu, it)| {
            let trace = traced.remove(&cpu).filter(|_| !by_counts.contains(cpu));
            (cpu, trace.map_or((it.times, false), |trace| (trace.settled(index.stranger), true)))
        });
        Settlement { cpus: best.collect(), untraced_ns }
    }

    /// How long tasks of the chosen processes ran of which the trace lost sight, and how long all of them ran, in nanoseconds.
    pub(crate) fn untraced_of_chosen(&self) -> (u64, u64) {
        let ran = self.cpus.values().map(|(times, _)| times.ns_of(Owner::Asked));
        (self.untraced_ns, ran.fold(0, u64::saturating_add))
    }

    /// The tasks of a CPU, and whether they are those of its trace.
    pub(crate) fn on(&self, cpu: u32) -> Option<(TaskTimes, bool)> {
        self.cpus.get(&cpu).cloned()
    }
}

struct Scope<'a, 'e> {
    evidence: &'a Evidence<'e>,
    accounting: &'a Accounting,
    index: &'a TaskIndex,
    wall_ns: u64,
}

/// One CPU by the tasks' own counts.
struct Counted {
    times: TaskTimes,
    /// The time of all tasks, or at most that.
    sum: Option<Sum>,
    /// What of it no task that was sampled accounts for.
    unseen_ns: u64,
}

impl Counted {
    fn excess_ns(&self) -> u64 {
        self.sum.map_or(0, |it| self.times.ns().saturating_sub(it.ns()))
    }

    fn room_ns(&self) -> u64 {
        self.sum.map_or(0, |it| it.ns().saturating_sub(self.times.ns()))
    }
}

impl Scope<'_, '_> {
    /// Whether no task ran elsewhere: every CPU that was online is accounted for, and by one source.
    fn is_whole(&self, cpus: &CpuSet) -> bool {
        let interval = &self.evidence.interval;
        let online = [&interval.before.online, &interval.after.online];
        let n_traced = cpus.iter().filter(|it| self.trace_on(*it).is_some()).count();
        online.iter().all(|it| *it == cpus)
            && self.evidence.spun.is_empty()
            && (n_traced == 0 || n_traced == cpus.len())
    }

    fn trace_on(&self, cpu: u32) -> Option<(&CpuTotals, TaskTimes)> {
        let totals = self.evidence.traced_on(cpu).ok()?;
        Some((totals, self.index.traced(totals, self.wall_ns).ok()?))
    }

    /// Each CPU by the tasks' own counts.
    fn counted(&self, cpus: &CpuSet) -> BTreeMap<u32, Counted> {
        let is_whole = self.is_whole(cpus);
        let one = |cpu| {
            let times = self.index.on(cpu, self.wall_ns);
            (cpu, Counted { times, sum: sum(self.evidence, self.accounting, cpu), unseen_ns: 0 })
        };
        let mut counted: BTreeMap<u32, Counted> = cpus.iter().map(one).collect();
        if is_whole {
            place(&mut counted);
        }
        if is_whole && let Ok(ended) = &self.evidence.ended {
            make_room(&mut counted, ended.ns.saturating_sub(ended.uncertainty_ns));
        }
        let unseen_ns = counted.values().map(Counted::room_ns).fold(0, u64::saturating_add);
        // Where some CPUs are traced and others are not, nothing shows on which of them tasks ran that have ended.
        let n_traced = cpus.iter().filter(|it| self.trace_on(*it).is_some()).count();
        let ended = match &self.evidence.ended {
            Ok(ended) if n_traced == 0 || n_traced == cpus.len() => Some(*ended),
            _ => None,
        };
        for it in counted.values_mut() {
            self.settle(it, is_whole, ended, unseen_ns);
        }
        counted
    }

    fn server_ended_ns(&self) -> u64 {
        let all_ns = self.evidence.ended.as_ref().map_or(0, |it| it.ns);
        self.evidence.server.as_ref().map_or(0, |it| it.ended_ns).min(all_ns)
    }

    /// Enters the time that no sampled task accounts for, or takes from all tasks alike what is more than all of them ran.
    /// `all_unseen_ns` is that time on all CPUs, of which the chosen processes have what their `ended` tasks ran.
    fn settle(
        &self,
        it: &mut Counted,
        is_whole: bool,
        ended: Option<EndedTasks>,
        all_unseen_ns: u64,
    ) {
        let (excess_ns, unseen_ns) = (it.excess_ns(), it.room_ns());
        if !is_whole {
            it.times.uncertainty_ns = it.times.uncertainty_ns.saturating_add(it.times.misplaced_ns);
        }
        let is_sum = matches!(it.sum, Some(Sum::OfTasks(_)));
        let ended_ns = ended.map_or(0, |it| it.ns).min(all_unseen_ns);
        let own_ns = part(unseen_ns, ended_ns, all_unseen_ns);
        let times = &mut it.times;
        if is_sum && excess_ns > 0 {
            *times = times.clone().without(excess_ns);
        }
        let name = if times.without_users.is_some() { NOT_SAMPLED } else { UNSEEN };
        let rest_ns = if is_sum { unseen_ns.saturating_sub(own_ns) } else { 0 };
        let server_ns = part(own_ns, self.server_ended_ns(), ended.map_or(0, |it| it.ns));
        let server = self.evidence.server.as_ref().map_or(ENDED, |it| &it.ended_name);
        let shares = [
            (Owner::Asked, ENDED, own_ns.saturating_sub(server_ns)),
            (Owner::Asked, server, server_ns),
            (self.index.stranger, name, rest_ns),
        ];
        let shares = shares.into_iter().filter(|it| it.2 > 0);
        times.shares.extend(shares.map(|(owner, name, ns)| unattributed(owner, name, ns)));
        it.unseen_ns = if is_sum { unseen_ns } else { own_ns };
        if is_sum && times.without_users.is_none() {
            // The sum is sure. Whose the unseen time is, is not, unless it is known how long the chosen ran that ended.
            let unsure_ns = match ended {
                Some(ended) if is_whole => part(ended.uncertainty_ns, unseen_ns, all_unseen_ns),
                _ => unseen_ns,
            };
            times.uncertainty_ns = times.uncertainty_ns.max(excess_ns).max(unsure_ns);
        }
        if is_sum && self.index.stranger == Owner::Asked {
            times.without_users = None;
        }
    }
}

/// Of the time of strangers' tasks, at most one part in so many is taken for tasks that are known to have run.
const MOST_CUT: u64 = 20;

/// Takes from strangers' tasks what the chosen processes ran in `ended_ns` and no room is left for, within what reading them one by one
/// explains. That takes milliseconds in which others run on, so what each of them ran is less sure than what a process is known to
/// have run. Without the time of all tasks on some CPU, room there is none that is known.
fn make_room(cpus: &mut BTreeMap<u32, Counted>, ended_ns: u64) {
    if cpus.values().any(|it| it.sum.is_none()) {
        return;
    }
    let room_ns = cpus.values().map(Counted::room_ns).fold(0, u64::saturating_add);
    let all_ns = strangers_ns(cpus.values().map(|it| &it.times));
    let lacking_ns = ended_ns.saturating_sub(room_ns);
    cpus.values_mut().for_each(|it| {
        cut_strangers(&mut it.times, lacking_ns, all_ns);
    });
}

/// What strangers' tasks ran on all CPUs.
fn strangers_ns<'a>(cpus: impl Iterator<Item = &'a TaskTimes>) -> u64 {
    cpus.map(|it| it.ns_of(Owner::Other)).fold(0, u64::saturating_add)
}

/// Takes this CPU's part of `ns` from strangers' tasks, which ran `all_ns` on all CPUs; at most as much as they are unsure by.
fn cut_strangers(times: &mut TaskTimes, ns: u64, all_ns: u64) -> u64 {
    let cut_ns = ns.min(all_ns / MOST_CUT);
    let strangers = times.shares.iter_mut().filter(|it| it.owner == Owner::Other);
    let cut = strangers.map(|share| {
        share.cut_ns = part(share.ns, cut_ns, all_ns).min(share.ns);
        share.ns -= share.cut_ns;
        share.cut_ns
    });
    cut.fold(0, u64::saturating_add)
}

/// Takes from the CPUs with more tasks' time than all tasks ran there, and gives it to those with less.
fn place(cpus: &mut BTreeMap<u32, Counted>) {
    let total = |of: fn(&Counted) -> u64| cpus.values().map(of).fold(0, u64::saturating_add);
    let (all_excess_ns, all_room_ns) = (total(Counted::excess_ns), total(Counted::room_ns));
    let moved_ns = all_excess_ns.min(all_room_ns);
    if moved_ns == 0 {
        return;
    }
    let rooms: Vec<(u32, u64)> = cpus.iter().map(|(cpu, it)| (*cpu, it.room_ns())).collect();
    let mut taken: Vec<Share> = Vec::new();
    for it in cpus.values_mut() {
        let ns = part(it.excess_ns(), moved_ns, all_excess_ns);
        taken.extend(it.times.take(ns));
    }
    for share in taken {
        let (mut given_ns, mut room_ns) = (0u64, 0u64);
        for (cpu, room) in rooms.iter().filter(|it| it.1 > 0) {
            room_ns = room_ns.saturating_add(*room);
            // Parts of the sum so far, so that rounding loses no nanosecond.
            let until_ns = part(share.ns, room_ns, all_room_ns);
            let ns = until_ns.saturating_sub(given_ns);
            given_ns = until_ns;
            if let Some(it) = cpus.get_mut(cpu) {
                it.times.give(Share { ns, ..share.clone() });
            }
        }
    }
}

/// One CPU by its trace.
struct Traced {
    times: TaskTimes,
    /// Time in which the trace lost sight of who ran, for as long as tasks ran then.
    lost_ns: u64,
    /// Whether all of that was tasks' time, or at most that.
    is_sum: bool,
    /// What of it was that of tasks of the chosen processes.
    own_ns: u64,
}

impl Traced {
    fn settled(mut self, stranger: Owner) -> TaskTimes {
        let rest_ns = if self.is_sum { self.lost_ns.saturating_sub(self.own_ns) } else { 0 };
        let shares = [(Owner::Asked, self.own_ns), (stranger, rest_ns)];
        let shares = shares.into_iter().filter(|it| it.1 > 0);
        self.times.shares.extend(shares.map(|(owner, ns)| unattributed(owner, UNTRACED, ns)));
        self.times
    }
}

impl Scope<'_, '_> {
    /// Each CPU that was traced, by its trace: tasks of some machines switch without being traced.
    fn traced(&self, cpus: &CpuSet) -> BTreeMap<u32, Traced> {
        let one = |cpu| {
            let (totals, times) = self.trace_on(cpu)?;
            let lost = (totals.unknown_ns > 0).then(|| self.lost(cpu, totals, &times)).flatten();
            let (lost_ns, is_sum) = lost.unwrap_or((0, false));
            Some((cpu, Traced { times, lost_ns, is_sum, own_ns: 0 }))
        };
        let mut traced: BTreeMap<u32, Traced> = cpus.iter().filter_map(one).collect();
        let all_lost_ns = traced.values().map(|it| it.lost_ns).fold(0, u64::saturating_add);
        let Some((own_ns, unsure_ns)) = self.untraced_of_chosen(cpus, &traced) else {
            return traced;
        };
        // Where a switch to a task and the one back are both lost, the time is another task's without a gap.
        let lacking_ns = own_ns.saturating_sub(unsure_ns).saturating_sub(all_lost_ns);
        let all_ns = strangers_ns(traced.values().map(|it| &it.times));
        let own_ns = own_ns.min(all_lost_ns);
        for it in traced.values_mut().filter(|it| it.lost_ns > 0) {
            it.own_ns = part(it.lost_ns, own_ns, all_lost_ns);
            // It is known how long the chosen ran, and how long all tasks ran; of the rest only who it was is not.
            if it.is_sum {
                let rest_ns = it.lost_ns.saturating_sub(it.own_ns);
                let known_ns = rest_ns.saturating_add(part(unsure_ns, it.lost_ns, all_lost_ns));
                it.times.uncertainty_ns = it.times.uncertainty_ns.min(known_ns);
            }
        }
        for it in traced.values_mut() {
            let cut_ns = cut_strangers(&mut it.times, lacking_ns, all_ns);
            it.own_ns = it.own_ns.saturating_add(cut_ns);
            it.lost_ns = it.lost_ns.saturating_add(cut_ns);
        }
        traced
    }

    /// What came while tasks ran and is in their own counts, too.
    fn interrupted_ns(&self, share: &Share) -> u64 {
        let is_left_out = self.accounting.leaves_out_interrupts == Ok(true);
        share.interrupted.filter(|_| !is_left_out).map_or(0, |it| it.ns)
    }

    /// What was stolen of a CPU's time and is not in the tasks' own counts.
    fn kept_out_ns(&self, cpu: u32) -> u64 {
        match self.accounting.leaves_out_steal {
            Ok(true) => stolen(self.evidence, cpu, self.wall_ns).map_or(0, |it| it.ns),
            _ => 0,
        }
    }

    /// How long tasks ran while the trace of `cpu` did not tell who ran, and whether that is so, or at most so.
    ///
    /// The sum over all tasks holds the interrupts that came in them, unless the tasks' clock leaves those out; the same of
    /// stolen time, which a trace takes for the tasks'.
    fn lost(&self, cpu: u32, totals: &CpuTotals, times: &TaskTimes) -> Option<(u64, bool)> {
        let sum = sum(self.evidence, self.accounting, cpu)?;
        let causes = totals.causes.values();
        let in_tasks_ns = causes.fold(0u64, |sum, it| sum.saturating_add(it.in_task_ns));
        let is_left_out = |left_out: &Fact<bool>| matches!(left_out, Ok(true));
        let (mut all_ns, mut seen_ns) = (sum.ns(), times.ns());
        match sum {
            Sum::OfTasks(_) => {
                if is_left_out(&self.accounting.leaves_out_steal) {
                    let stolen = stolen(self.evidence, cpu, self.wall_ns);
                    all_ns = all_ns.saturating_add(stolen.map_or(0, |it| it.ns));
                }
                if !is_left_out(&self.accounting.leaves_out_interrupts) {
                    seen_ns = seen_ns.saturating_add(in_tasks_ns);
                }
            }
            Sum::NotIdle(_) => seen_ns = seen_ns.saturating_add(in_tasks_ns),
        }
        let lost_ns = all_ns.saturating_sub(seen_ns).min(totals.unknown_ns);
        Some((lost_ns, matches!(sum, Sum::OfTasks(_))))
    }

    /// How long tasks of the chosen processes ran that the traces do not show, and how far off that may be. `None` where
    /// not every CPU was traced, or it is not known how long those ran that ended.
    fn untraced_of_chosen(
        &self,
        cpus: &CpuSet,
        traced: &BTreeMap<u32, Traced>,
    ) -> Option<(u64, u64)> {
        if traced.len() != cpus.len() || !self.is_whole(cpus) || !self.evidence.has_chosen() {
            return None;
        }
        let ended = self.evidence.ended.as_ref().ok()?;
        let sum = |values: &mut dyn Iterator<Item = u64>| values.fold(0, u64::saturating_add);
        let counted = cpus.iter().map(|cpu| self.index.on(cpu, self.wall_ns).ns_of(Owner::Asked));
        let ran_ns = sum(&mut counted.chain([ended.ns]));
        let mut shown_ns = 0u64;
        for (cpu, it) in traced {
            let mine_ns = it.times.ns_of(Owner::Asked);
            let mut interrupted = it.times.of(Owner::Asked).map(|it| self.interrupted_ns(it));
            shown_ns = shown_ns.saturating_add(sum(&mut interrupted));
            let stolen_ns = self.kept_out_ns(*cpu);
            // Of the stolen time, what was taken from them.
            let stolen_ns = part(stolen_ns, mine_ns, it.times.ns().saturating_add(it.lost_ns));
            shown_ns = shown_ns.saturating_add(mine_ns.saturating_sub(stolen_ns));
        }
        Some((ran_ns.saturating_sub(shown_ns), ended.uncertainty_ns))
    }

    /// The CPUs of which the tasks' own counts say more than a trace that lost sight of who ran. Where all CPUs are accounted
    /// for, all of them or none: a task that one source has on one CPU may be on another by the other.
    fn better_by_counts(
        &self,
        counted: &BTreeMap<u32, Counted>,
        traced: &BTreeMap<u32, Traced>,
    ) -> CpuSet {
        let cpus: CpuSet = counted.keys().copied().collect();
        let doubts = counted.iter().filter_map(|(cpu, counted)| {
            let unknown_ns = self.evidence.traced_on(*cpu).ok()?.unknown_ns;
            traced.get(cpu)?;
            let is_known = matches!(counted.sum, Some(Sum::OfTasks(_)));
            let is_usable = is_known && counted.times.without_users.is_none();
            let unseen_ns = counted.times.uncertainty_ns.max(counted.unseen_ns);
            Some((*cpu, if is_usable { unseen_ns } else { u64::MAX }, unknown_ns))
        });
        let doubts: Vec<(u32, u64, u64)> = doubts.collect();
        let is_better =
            |counted_ns: u64, unknown_ns: u64| unknown_ns > 0 && counted_ns < unknown_ns;
        if self.is_whole(&cpus) {
            let sum = |of: fn(&(u32, u64, u64)) -> u64| {
                doubts.iter().map(of).fold(0, u64::saturating_add)
            };
            let all = is_better(sum(|it| it.1), sum(|it| it.2));
            return if all { cpus } else { CpuSet::default() };
        }
        doubts.iter().filter(|it| is_better(it.1, it.2)).map(|it| it.0).collect()
    }
}

/// Time of tasks of which nothing else is known.
fn unattributed(owner: Owner, name: &str, ns: u64) -> Share {
    Share { owner, name: name.to_owned(), ns, interrupted: Some(Interrupted::default()), cut_ns: 0 }
}

#[cfg(test)]
mod tests;
