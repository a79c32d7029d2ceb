//! What one CPU lost.

use super::{Histogram, Percentiles, Seen};
use super::{Part, Taker, parts};
use crate::spin::{self, Counts, Explained, Method, NoiseSource};
use facts::counters::Family;
use facts::probe::{Gaps, NotKept};
use facts::{Fact, Missing};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// As many gaps as fit on a screen with everything else.
pub(super) const N_LONGEST: usize = 10;

/// What one CPU lost while a spinner had it.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuNoise {
    /// The CPU.
    pub cpu: u32,
    /// When its spinner began, CLOCK_MONOTONIC_RAW in nanoseconds.
    pub started_ns: u64,
    /// For how long it watched, in nanoseconds.
    pub wall_ns: u64,
    /// The mean time between two readings with no gap in between, in nanoseconds; missing where there were none.
    pub step_ns: Fact<f64>,
    /// Steps up to this many nanoseconds are ordinary, and no gaps.
    pub floor_ns: u64,
    /// How many gaps there were.
    pub n_gaps: u64,
    /// How long they lasted, in nanoseconds, less what this program took itself.
    pub lost_ns: u64,
    /// What this program took itself, in nanoseconds.
    pub own_ns: u64,
    /// Gaps that are in no histogram, percentile or list, for want of room.
    pub not_kept: NotKept,
    /// How the gaps were explained.
    pub method: Method,
    /// What each noise source took, the largest first; together `lost_ns` and `own_ns`.
    pub parts: Vec<Part>,
    /// The gaps by length.
    pub histogram: Histogram,
    /// Lengths that most gaps do not exceed.
    pub percentiles: Fact<Percentiles>,
    /// The longest gaps, the longest first.
    pub longest: Vec<LongGap>,
    /// Whether every tick was seen.
    pub ticks: Fact<Ticks>,
}

/// One gap among the longest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongGap {
    /// When it began, CLOCK_MONOTONIC_RAW in nanoseconds.
    pub at_ns: u64,
    /// How long it lasted, in nanoseconds.
    pub length_ns: u64,
    /// Whose it was, in nanoseconds, who had the most of it first; `None` where nothing was traced.
    pub takers: Option<Vec<(Taker, u64)>>,
}

/// Ticks of the CPU's own timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// Those that began in a gap.
    pub found: u64,
    /// Those that were counted, from a little before the first reading to a little after the last.
    pub counted: u64,
}

impl CpuNoise {
    pub(super) fn of(seen: &Seen<'_>, gaps: &Gaps) -> CpuNoise {
        let counts = Counts::between(&seen.interval, gaps.cpu, gaps.thread);
        let is_guest = seen.interval.host.platform.is_guest();
        let explained = spin::explain(gaps, &counts, seen.events, is_guest);
        let names = names(seen);
        let known = |source| Taker::known(source, seen.own, &names);
        let parts = parts(&explained.books, known);
        let is_own = |part: &&Part| part.taker == Taker::Own;
        let own = parts.iter().filter(is_own);
        let own_ns = own.fold(0u64, |sum, it| sum.saturating_add(it.taken.ns));
        CpuNoise {
            cpu: gaps.cpu,
            started_ns: gaps.started_ns,
            wall_ns: gaps.wall_ns(),
            step_ns: step_ns(gaps),
            floor_ns: gaps.floor_ns,
            n_gaps: gaps.count(),
            lost_ns: gaps.total_ns().saturating_sub(own_ns),
            own_ns,
            not_kept: gaps.not_kept,
            method: explained.books.method,
            parts,
            histogram: Histogram::of(gaps.gaps.iter().map(|it| it.length_ns)),
            percentiles: Percentiles::of(gaps),
            longest: longest(gaps, &explained, known),
            ticks: ticks(seen, &explained, &counts),
        }
    }

    /// The share of its time that the CPU lost, 1 being all of it.
    pub fn lost_share(&self) -> f64 {
        self.share(self.lost_ns)
    }

    /// The share of its time that `ns` nanoseconds are.
    pub fn share(&self, ns: u64) -> f64 {
        ns as f64 / self.wall_ns.max(1) as f64
    }

    /// How many gaps there were per second.
    pub fn gaps_per_second(&self) -> f64 {
        self.n_gaps as f64 * 1e9 / self.wall_ns.max(1) as f64
    }
}

fn step_ns(gaps: &Gaps) -> Fact<f64> {
    let n_steps = gaps.reads.saturating_sub(gaps.count());
    if n_steps == 0 {
        return Err(Missing::not_here("the time between two readings", "every step was a gap"));
    }
    Ok(gaps.wall_ns().saturating_sub(gaps.total_ns()) as f64 / n_steps as f64)
}

/// The names that /proc/interrupts shows after the number of a device's interrupt.
fn names(seen: &Seen<'_>) -> BTreeMap<u32, String> {
    let Ok(table) = seen.interval.after.table(Family::Interrupts) else { return BTreeMap::new() };
    let named = table.columns().iter().filter_map(|column| {
        let (number, name) = column.split_once(' ')?;
        Some((number.parse().ok()?, name.trim().to_owned()))
    });
    named.collect()
}

fn longest(
    gaps: &Gaps,
    explained: &Explained,
    known: impl Fn(NoiseSource) -> Taker,
) -> Vec<LongGap> {
    let mut all: Vec<(usize, u64)> =
        gaps.gaps.iter().map(|gap| gap.length_ns).enumerate().collect();
    all.sort_by_key(|&(_, length_ns)| Reverse(length_ns));
    let of = |&(index, length_ns): &(usize, u64)| {
        let at_ns = gaps.gaps.get(index)?.at_ns;
        let told = |takers: Vec<(NoiseSource, u64)>| {
            takers.into_iter().map(|(source, ns)| (known(source), ns)).collect()
        };
        Some(LongGap { at_ns, length_ns, takers: explained.takers(index).map(told) })
    };
    all.iter().take(N_LONGEST).filter_map(of).collect()
}

/// By counts ticks are found because they were counted, which proves nothing.
fn ticks(seen: &Seen<'_>, explained: &Explained, counts: &Counts) -> Fact<Ticks> {
    if explained.books.method == Method::Counts {
        return Err(Missing::not_here("ticks that are found in gaps", "interrupts were traced"));
    }
    let cause = spin::tick(&seen.interval);
    let counted = counts.interrupts.as_ref().map_err(Missing::clone)?;
    Ok(Ticks {
        found: explained.books.of(NoiseSource::Kernel(cause)).count,
        counted: counted.get(&cause).copied().unwrap_or_default(),
    })
}
