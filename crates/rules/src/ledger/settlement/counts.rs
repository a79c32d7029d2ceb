//! Traced times of users' tasks, held against the tasks' own counts.
//!
//! The kernel counts a task that was woken and preempts another one from the moment at which it was woken: the clock of a run queue
//! is not set again for the switch that follows (wakeup_preempt and rq_clock_skip_update in kernel/sched/core.c). A trace shows the
//! switch itself. Until then an interrupt has to arrive, which takes microseconds in a guest: of a task that is woken ten thousand
//! times a second, several percent of a CPU are another's by the trace. Other tools show the kernel's count, and so does the ledger.

use super::super::amount::part;
use super::super::owner::Owner;
use super::super::tasks::{Interrupted, Share, TaskTimes};
use super::{Scope, Traced};
use crate::interval::Interval;
use facts::CpuSet;
use facts::trace::Comm;
use std::collections::BTreeMap;

/// Of whom the kernel's count is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Whose {
    /// All tasks of the chosen processes together: the count of those that ended has no names.
    Chosen,
    /// Strangers' tasks of a name.
    Strangers(String),
}

/// How it is known whose count a task is in.
#[derive(Clone, Copy)]
struct Known {
    stranger: Owner,
    /// Whether there are chosen processes, of which it is known what their tasks ran that ended.
    chosen: bool,
}

impl Known {
    fn of(self, share: &Share) -> Option<Whose> {
        match share.owner {
            owner if owner == self.stranger => Some(Whose::Strangers(share.name.clone())),
            Owner::Asked if self.chosen => Some(Whose::Chosen),
            _ => None,
        }
    }
}

impl Scope<'_, '_> {
    /// Gives tasks of users what the kernel counted of them, where every CPU was traced. What the chosen ones lack they have
    /// already: from the time of which the trace lost sight, and from strangers.
    pub(super) fn hold_to_counts(&self, cpus: &CpuSet, traced: &mut BTreeMap<u32, Traced>) {
        if traced.len() != cpus.len() || !self.is_whole(cpus) {
            return;
        }
        let stranger = self.index.stranger;
        let chosen = self.evidence.ended.as_ref().ok().filter(|_| self.evidence.has_chosen());
        let known = Known { stranger, chosen: chosen.is_some() };
        let ended = self.ended(stranger).into_iter().map(|(name, ns)| (Whose::Strangers(name), ns));
        let mut counted: BTreeMap<Whose, u64> = ended.collect();
        if let Some(ended) = chosen {
            counted.insert(Whose::Chosen, ended.ns.saturating_add(ended.uncertainty_ns));
        }
        for share in cpus.iter().flat_map(|cpu| self.index.on(cpu, self.wall_ns).shares) {
            if let Some(whose) = known.of(&share) {
                let sum = counted.entry(whose).or_default();
                *sum = sum.saturating_add(share.ns);
            }
        }
        let stolen_ns: BTreeMap<u32, u64> =
            cpus.iter().map(|it| (it, self.kept_out_ns(it))).collect();
        let lost_ns: BTreeMap<u32, u64> =
            traced.iter().map(|(cpu, it)| (*cpu, it.lost_ns)).collect();
        let shown_ns = |cpu: u32, times: &TaskTimes, share: &Share| {
            let of = |of: &BTreeMap<u32, u64>| of.get(&cpu).copied().unwrap_or(0);
            let all_ns = times.ns().saturating_add(of(&lost_ns));
            let stolen_ns = part(of(&stolen_ns), share.ns, all_ns);
            share.ns.saturating_add(self.interrupted_ns(share)).saturating_sub(stolen_ns)
        };
        let mut times = traced.iter_mut().map(|(cpu, it)| (*cpu, &mut it.times)).collect();
        hold(&mut times, known, &counted, shown_ns);
    }

    /// What tasks of `owner` ran that ended, by name and as far as the kernel reported them.
    fn ended(&self, owner: Owner) -> BTreeMap<String, u64> {
        let Interval { before, after, .. } = &self.evidence.interval;
        let is_there = |tid| after.tasks.as_ref().is_ok_and(|it| it.get(tid).is_some());
        let ran_before = |tid| before.tasks.as_ref().ok()?.get(tid).map(|it| it.run_ns);
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        let exits = self.evidence.exits.as_ref().into_iter().flatten();
        for exit in exits.filter(|it| !is_there(it.tid)) {
            let name = Comm::new(exit.name.as_str());
            let unknown = || self.index.unknown(exit.tid.cast_signed(), &name);
            let (whose, name) = self.index.owner(exit.tid).cloned().unwrap_or_else(unknown);
            if whose == owner {
                let sum = sums.entry(name).or_default();
                let ns = exit.run_ns.saturating_sub(ran_before(exit.tid).unwrap_or(0));
                *sum = sum.saturating_add(ns);
            }
        }
        sums
    }
}

/// What tasks of one count ran, in nanoseconds.
#[derive(Clone, Copy, Default)]
struct Sum {
    /// By the trace, on all CPUs: what can be taken from it.
    traced_ns: u64,
    /// The same with what the kernel counts besides.
    shown_ns: u64,
    counted_ns: u64,
}

impl Sum {
    fn surplus_ns(&self) -> u64 {
        self.shown_ns.saturating_sub(self.counted_ns).min(self.traced_ns)
    }
}

/// Moves time from tasks of which the traces show more than the kernel counted to strangers' tasks of which they show less. What all
/// of them ran on each CPU stays what it is. `counted` has what they ran on all CPUs; `shown_ns` says what the kernel would count of
/// a share on a CPU.
fn hold(
    cpus: &mut BTreeMap<u32, &mut TaskTimes>,
    known: Known,
    counted: &BTreeMap<Whose, u64>,
    shown_ns: impl Fn(u32, &TaskTimes, &Share) -> u64,
) {
    let mut sums: BTreeMap<Whose, Sum> = BTreeMap::new();
    for (cpu, times) in cpus.iter() {
        for share in &times.shares {
            let Some(whose) = known.of(share) else { continue };
            let sum = sums.entry(whose).or_default();
            sum.traced_ns = sum.traced_ns.saturating_add(share.ns);
            sum.shown_ns = sum.shown_ns.saturating_add(shown_ns(*cpu, times, share));
        }
    }
    for (whose, counted_ns) in counted {
        sums.entry(whose.clone()).or_default().counted_ns = *counted_ns;
    }
    let lacking = sums.iter().filter_map(|(whose, sum)| match whose {
        Whose::Strangers(name) => Some((name, sum.counted_ns.saturating_sub(sum.shown_ns))),
        Whose::Chosen => None,
    });
    let lacking: Vec<(&String, u64)> = lacking.filter(|it| it.1 > 0).collect();
    let lacking_ns = lacking.iter().map(|it| it.1).fold(0, u64::saturating_add);
    let surplus_ns = sums.values().map(Sum::surplus_ns).fold(0, u64::saturating_add);
    let moved_ns = lacking_ns.min(surplus_ns);
    for times in cpus.values_mut() {
        let mut taken_ns = 0u64;
        for share in &mut times.shares {
            let Some(sum) = known.of(share).and_then(|it| sums.get(&it)) else { continue };
            let ns = part(part(sum.surplus_ns(), moved_ns, surplus_ns), share.ns, sum.traced_ns);
            let ns = ns.min(share.ns);
            share.ns -= ns;
            taken_ns = taken_ns.saturating_add(ns);
        }
        let (mut given_ns, mut until_ns) = (0, 0u64);
        for (name, ns) in &lacking {
            until_ns = until_ns.saturating_add(*ns);
            // Parts of the sum so far, so that rounding loses no nanosecond.
            let ns = part(taken_ns, until_ns, lacking_ns).saturating_sub(given_ns);
            given_ns += ns;
            let interrupted = Some(Interrupted::default());
            let (owner, name) = (known.stranger, (*name).clone());
            times.give(Share { owner, name, ns, interrupted, cut_ns: 0 });
        }
    }
}
