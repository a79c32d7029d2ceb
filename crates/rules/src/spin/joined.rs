//! Gaps and traced events, joined by time.
//!
//! What the trace does not mark is the way into the kernel and out of it. Such an edge belongs to the event next to it,
//! up to four times the median edge of the same trace; a longer edge holds something else as well.
//!
//! That, and a gap without any event, is time in which this kernel did nothing that is traced. System management mode and
//! non-maskable interrupts come from their counts, the longest gaps first; then as many gaps stay unexplained as there
//! were interrupts of kinds that have no tracepoint. What is left in a guest is the hypervisor's, unless it is shorter
//! than leaving the guest and coming back can be; on hardware nothing explains it.

#[cfg(test)]
mod tests;

use super::walk::{Owner, Walk};
use super::{Counts, GapBooks, Method, Thief};
use facts::Fact;
use facts::probe::{EventCost, EventCosts, Gaps, NotKept};
use facts::trace::{Cause, Event, What};
use std::collections::{BTreeMap, BTreeSet};

/// An edge this many times the median is more than an edge.
const EDGE_MOST: u64 = 4;

/// Leaving a guest and entering it again takes longer, and so does everything else that is not the core itself. CPUID,
/// which does nothing else in a guest (SDM vol. 3C, "Instructions That Cause VM Exits Unconditionally"), takes 745 ns
/// in a KVM guest on a Xeon at 3.1 GHz.
pub(super) const SHORTEST_EXIT_NS: u64 = 300;

/// What can make a gap without making an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Untraced {
    /// Whether there is a hypervisor: what nothing else explains in a guest is its doing.
    pub is_guest: bool,
    /// How often the CPU was in system management mode; 0 where that is not counted.
    pub n_smi: u64,
    /// How many non-maskable interrupts the CPU took; 0 where that is unknown.
    pub n_nmi: u64,
    /// How many interrupts it took of kinds that are not traced.
    pub n_interrupts: u64,
}

impl Untraced {
    /// By what was counted while the gaps of `join` were seen.
    ///
    /// Where interrupts were not counted, it is unknown what else came: then no gap is attributed to the hypervisor.
    pub fn of(join: &Join, counts: &Counts, is_guest: bool) -> Untraced {
        let traced: BTreeSet<Thief> =
            join.walks.iter().flat_map(|walk| walk.begun.iter().copied()).collect();
        let counted = counts.interrupts.as_ref().map(|all| {
            let untraced = all.iter().filter(|&(&it, _)| !traced.contains(&Thief::Kernel(it)));
            untraced.fold(0, |sum: u64, (_, count)| sum.saturating_add(*count))
        });
        Untraced {
            is_guest,
            n_smi: counts.n_smi.clone().unwrap_or_default(),
            n_nmi: counts.n_nmi.clone().unwrap_or_default(),
            n_interrupts: counted.unwrap_or(u64::MAX),
        }
    }
}

/// The gaps of one CPU with the events that lie in them.
#[derive(Clone, Debug)]
pub struct Join {
    cpu: u32,
    /// Where each gap is to be found, in the order of the gaps.
    places: Vec<Place>,
    walks: Vec<Walk>,
    /// The lengths of gaps without an event, and of edges what is too long for one; in nanoseconds, the longest first.
    silent: Vec<u64>,
    not_kept: NotKept,
    is_complete: bool,
    longest_edge_ns: u64,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    /// Among the walks.
    Walk(usize),
    /// Without an event, and this long.
    Silent(u64),
}

/// Joins the gaps of a CPU with the events of any CPUs, which may come in any order.
///
/// The events must have been collected since before the first gap and until after the last.
pub fn join(gaps: &Gaps, events: &[Event]) -> Join {
    let mut here: Vec<&Event> = events.iter().filter(|event| event.cpu == gaps.cpu).collect();
    here.sort_by_key(|event| event.at_ns);
    let is_complete = !here.iter().any(|event| matches!(event.what, What::Lost(_)));
    let by_gap = events_by_gap(gaps, &here);
    let spinner = spinner_of(gaps, &by_gap);
    let (mut walks, mut silent) = (Vec::new(), Vec::new());
    let mut places = Vec::with_capacity(gaps.gaps.len());
    for (gap, inside) in gaps.gaps.iter().zip(by_gap) {
        if inside.is_empty() {
            places.push(Place::Silent(gap.length_ns));
            silent.push(gap.length_ns);
        } else {
            places.push(Place::Walk(walks.len()));
            walks.push(Walk::through(gap, inside, spinner));
        }
    }
    let longest_edge_ns = longest_edge(&walks);
    let beyond_edge = |ns: u64| ns.checked_sub(longest_edge_ns).filter(|&ns| ns > 0);
    silent.extend(edges(&walks).filter_map(beyond_edge));
    silent.sort_unstable_by(|a, b| b.cmp(a));
    let not_kept = gaps.not_kept;
    Join { cpu: gaps.cpu, places, walks, silent, not_kept, is_complete, longest_edge_ns }
}

impl Join {
    /// Where the time of the gaps went.
    pub fn books(&self, untraced: Untraced) -> GapBooks {
        let mut books = GapBooks::empty(self.cpu, Method::Trace);
        for walk in &self.walks {
            walk.begun.iter().for_each(|&thief| books.enter(thief, 0, 1));
            self.charges(walk).for_each(|(thief, ns)| books.enter(thief, ns, 0));
        }
        for (index, &ns) in (0u64..).zip(&self.silent) {
            books.enter(self.thief_of_silence(index, ns, untraced), ns, 1);
        }
        books.enter(Thief::Unexplained, self.not_kept.total_ns, self.not_kept.count);
        books
    }

    /// Whose a gap without an event is that is `ns` long, with `index` longer ones.
    fn thief_of_silence(&self, index: u64, ns: u64, untraced: Untraced) -> Thief {
        let Untraced { is_guest, n_smi, n_nmi, n_interrupts } = untraced;
        let until_nmi = n_smi.saturating_add(n_nmi);
        if ns < SHORTEST_EXIT_NS {
            Thief::Unexplained
        } else if index < n_smi {
            Thief::Firmware
        } else if index < until_nmi {
            Thief::Nmi
        } else if is_guest && self.is_complete && index >= until_nmi.saturating_add(n_interrupts) {
            Thief::Hypervisor
        } else {
            Thief::Unexplained
        }
    }

    /// Whose the time of one gap is, without what is too long for an edge.
    fn charges<'a>(&'a self, walk: &'a Walk) -> impl Iterator<Item = (Thief, u64)> + 'a {
        walk.pieces.iter().map(|&(owner, ns)| match owner {
            Owner::Known(thief) => (thief, ns),
            Owner::Edge(thief) => (thief, ns.min(self.longest_edge_ns)),
        })
    }

    /// Gaps that one interrupt made, its softirqs included: which, and how long, less what is unexplained of it.
    fn interrupts(&self) -> impl Iterator<Item = (Cause, u64)> + '_ {
        self.walks.iter().filter_map(|walk| {
            let explained = self.charges(walk).filter(|(thief, _)| *thief != Thief::Unexplained);
            let length_ns = explained.fold(0, |sum: u64, (_, ns)| sum.saturating_add(ns));
            Some((the_only_interrupt(walk)?, length_ns))
        })
    }
}

/// What an event takes on the CPUs that were watched. `tick` is the cause of their ticks.
pub fn costs(joins: &[Join], tick: Cause) -> EventCosts {
    EventCosts::of_kinds(tick, |what, is_wanted| {
        let all = joins.iter().flat_map(Join::interrupts);
        EventCost::of_events(what, all.filter(|it| is_wanted(it.0)).map(|it| it.1).collect())
    })
}

/// What the kernel takes on the way into an interrupt and out of it, around its events, on the CPUs that were watched:
/// the edges of gaps that one interrupt made. Missing where they are fewer than ten.
pub fn edge(joins: &[Join]) -> Fact<EventCost> {
    let of_one =
        |walk: &Walk| the_only_interrupt(walk).map(|_| edges(std::slice::from_ref(walk)).sum());
    let all = joins.iter().flat_map(|join| join.walks.iter().filter_map(of_one));
    EventCost::typical("the way into an interrupt and out of it", all.collect())
}

/// For each gap its events. An event may lie outside of its gap by what the two clocks differ.
fn events_by_gap<'a, 'e>(gaps: &Gaps, events: &'a [&'e Event]) -> Vec<&'a [&'e Event]> {
    let mut rest = events;
    let mut split = |until: &dyn Fn(u64) -> bool| {
        let (taken, left) = rest.split_at(rest.partition_point(|event| until(event.at_ns)));
        rest = left;
        taken
    };
    let inside = gaps.gaps.iter().map(|gap| {
        split(&|at| at.saturating_add(gaps.slack_ns) < gap.at_ns);
        split(&|at| at <= gap.end_ns().saturating_add(gaps.slack_ns))
    });
    inside.collect()
}

/// The spinner's number in the trace. A trace has those of the first pid namespace, the spinner that of its own; but
/// it is the spinner that most gaps begin with.
fn spinner_of(gaps: &Gaps, by_gap: &[&[&Event]]) -> i32 {
    let mut first: BTreeMap<i32, u64> = BTreeMap::new();
    for event in by_gap.iter().filter_map(|inside| inside.first()) {
        let told = match event.what {
            What::Switch { prev, .. } => Some(prev.tid),
            _ => event.running,
        };
        told.into_iter().for_each(|tid| *first.entry(tid).or_default() += 1);
    }
    let most = first.iter().max_by_key(|&(_, count)| count);
    most.map_or(i32::try_from(gaps.thread).unwrap_or_default(), |(&tid, _)| tid)
}

fn longest_edge(walks: &[Walk]) -> u64 {
    let mut edges: Vec<u64> = edges(walks).collect();
    edges.sort_unstable();
    let median = edges.get(edges.len() / 2).copied().unwrap_or_default();
    median.saturating_mul(EDGE_MOST)
}

fn edges(walks: &[Walk]) -> impl Iterator<Item = u64> + '_ {
    let pieces = walks.iter().flat_map(|walk| &walk.pieces);
    pieces.filter(|(owner, _)| matches!(owner, Owner::Edge(_))).map(|&(_, ns)| ns)
}

/// The interrupt that made a gap, where it was one and nothing else came.
fn the_only_interrupt(walk: &Walk) -> Option<Cause> {
    let mut causes = walk.begun.iter().filter_map(|thief| match thief {
        Thief::Kernel(cause) if !cause.is_softirq() => Some(*cause),
        _ => None,
    });
    let first = causes.next().filter(|_| walk.is_clear)?;
    causes.next().is_none().then_some(first)
}

impl Join {
    /// Who had the time of the gap at `index`, in nanoseconds, the largest share first; empty where there is no
    /// such gap. Together they have all of the gap.
    ///
    /// Gaps without an event that are equally long have the same thief, however few of them the books let it have.
    pub fn takers(&self, index: usize, untraced: Untraced) -> Vec<(Thief, u64)> {
        let mut taken: BTreeMap<Thief, u64> = BTreeMap::new();
        let mut take = |thief, ns| *taken.entry(thief).or_default() += ns;
        match self.places.get(index) {
            None => {}
            Some(&Place::Silent(ns)) => take(self.thief_of_silence_of(ns, untraced), ns),
            Some(&Place::Walk(at)) => {
                let Some(walk) = self.walks.get(at) else { return Vec::new() };
                self.charges(walk).for_each(|(thief, ns)| take(thief, ns));
                for &(owner, ns) in &walk.pieces {
                    let beyond_ns = ns.saturating_sub(self.longest_edge_ns);
                    if matches!(owner, Owner::Edge(_)) && beyond_ns > 0 {
                        take(self.thief_of_silence_of(beyond_ns, untraced), beyond_ns);
                    }
                }
            }
        }
        let mut takers: Vec<(Thief, u64)> = taken.into_iter().filter(|(_, ns)| *ns > 0).collect();
        takers.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
        takers
    }

    fn thief_of_silence_of(&self, ns: u64, untraced: Untraced) -> Thief {
        let n_longer = self.silent.partition_point(|&it| it > ns) as u64;
        self.thief_of_silence(n_longer, ns, untraced)
    }
}
