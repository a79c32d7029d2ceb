//! Noise: how often and for how long CPUs are taken from a task that never gives them up, and by whom.
//!
//! What a spinner sees of its CPU (`facts::probe::Gaps`) is explained by [`crate::spin`]. Here the gaps become what
//! a report shows: how long they are, which are the longest, what takes how much, which CPU is the noisiest.
//!
//! Time that this program takes from its own spinners, to read the trace, is in the histogram and among the longest
//! gaps; it is not noise of the host, and counts neither as lost nor in the ranking.

mod cpu;
mod histogram;
#[cfg(test)]
mod tests;

pub use cpu::{CpuNoise, LongGap, Ticks};
pub use histogram::{Bucket, Histogram, Percentiles};

use crate::interval::Interval;
use crate::spin::{GapBooks, Taken, Thief};
use facts::probe::Gaps;
use facts::trace::{Cause, Event};
use facts::{Missing, PerCpu};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What was seen while spinners had the CPUs.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// The counters at both ends.
    pub interval: Interval<'a>,
    /// The time line of each CPU's spinner.
    pub gaps: &'a PerCpu<Gaps>,
    /// What was traced on all of them during that time, or why nothing was.
    pub events: Result<&'a [Event], &'a Missing>,
    /// The threads of this program.
    pub own: &'a BTreeSet<u32>,
}

/// What the CPUs lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// Those that were watched: the one that lost the largest share of its time first.
    pub cpus: Vec<CpuNoise>,
    /// Those that were not, ascending, and why.
    pub unwatched: Vec<(u32, Missing)>,
}

impl Noise {
    /// Of what was seen.
    pub fn of(seen: &Seen<'_>) -> Noise {
        let mut cpus: Vec<CpuNoise> =
            seen.gaps.known().map(|(_, gaps)| CpuNoise::of(seen, gaps)).collect();
        // Stable: CPUs that lost the same stay in order.
        cpus.sort_by(|a, b| b.lost_share().total_cmp(&a.lost_share()));
        let unwatched = seen.gaps.iter().filter_map(|(cpu, gaps)| {
            let missing = gaps.as_ref().err()?;
            Some((cpu, missing.clone()))
        });
        Noise { cpus, unwatched: unwatched.collect() }
    }

    /// The time that all CPUs were watched, together, in nanoseconds.
    pub fn wall_ns(&self) -> u64 {
        self.cpus.iter().fold(0, |sum, cpu| sum.saturating_add(cpu.wall_ns))
    }

    /// When the first spinner began, CLOCK_MONOTONIC_RAW in nanoseconds; 0 where none did.
    pub fn started_ns(&self) -> u64 {
        self.cpus.iter().map(|cpu| cpu.started_ns).min().unwrap_or_default()
    }

    /// What each thief took of all CPUs, the largest first.
    pub fn parts(&self) -> Vec<Part> {
        merged(self.cpus.iter().flat_map(|cpu| &cpu.parts))
    }

    /// The gaps of all CPUs by length.
    pub fn histogram(&self) -> Histogram {
        let mut all = Histogram::default();
        self.cpus.iter().for_each(|cpu| all.add(&cpu.histogram));
        all
    }

    /// The longest gaps of all CPUs, each with its CPU, the longest first.
    pub fn longest(&self) -> Vec<(u32, &LongGap)> {
        let mut all: Vec<(u32, &LongGap)> = Vec::new();
        for cpu in &self.cpus {
            all.extend(cpu.longest.iter().map(|gap| (cpu.cpu, gap)));
        }
        all.sort_by_key(|(_, gap)| std::cmp::Reverse(gap.length_ns));
        all.truncate(cpu::N_LONGEST);
        all
    }
}

/// Who had a CPU while its spinner did not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taker {
    /// Something of the host.
    Thief(Thief),
    /// A device's interrupt, by its number and the names of those who handle it (/proc/interrupts).
    Device(u32, String),
    /// This program, which empties the trace.
    Own,
}

/// What one taker had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Who.
    pub taker: Taker,
    /// How long, and how often.
    pub taken: Taken,
}

impl Taker {
    /// `thief` by what is known of this host: its threads that are this program's, and the names of its interrupts.
    pub(super) fn known(thief: Thief, own: &BTreeSet<u32>, names: &BTreeMap<u32, String>) -> Taker {
        match thief {
            Thief::Task(tid, _) if u32::try_from(tid).is_ok_and(|it| own.contains(&it)) => {
                Taker::Own
            }
            Thief::Kernel(Cause::Device(number)) => match names.get(&number) {
                Some(name) => Taker::Device(number, name.clone()),
                None => Taker::Thief(thief),
            },
            _ => Taker::Thief(thief),
        }
    }

    /// The kind of thief it is, in one word that stays the same whatever its name and number.
    pub fn kind(&self) -> &'static str {
        match self {
            Taker::Own => "own",
            Taker::Device(..) => "interrupt",
            Taker::Thief(Thief::Kernel(cause)) if cause.is_softirq() => "softirq",
            Taker::Thief(Thief::Kernel(_)) => "interrupt",
            Taker::Thief(Thief::Nmi) => "nmi",
            Taker::Thief(Thief::Task(..)) => "task",
            Taker::Thief(Thief::Nobody) => "nobody",
            Taker::Thief(Thief::Hypervisor) => "hypervisor",
            Taker::Thief(Thief::Firmware) => "firmware",
            Taker::Thief(Thief::Unexplained) => "unexplained",
        }
    }
}

/// The parts of one CPU's books, the largest first.
pub(super) fn parts(books: &GapBooks, known: impl Fn(Thief) -> Taker) -> Vec<Part> {
    let all: Vec<Part> =
        books.taken.iter().map(|(&thief, &taken)| Part { taker: known(thief), taken }).collect();
    merged(&all)
}

/// The same takers' parts added up, the largest first.
pub(super) fn merged<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Vec<Part> {
    let mut sums: BTreeMap<&Taker, Taken> = BTreeMap::new();
    for part in parts {
        let sum = sums.entry(&part.taker).or_default();
        sum.ns = sum.ns.saturating_add(part.taken.ns);
        sum.count = sum.count.saturating_add(part.taken.count);
    }
    let mut merged: Vec<Part> =
        sums.into_iter().map(|(taker, taken)| Part { taker: taker.clone(), taken }).collect();
    merged.sort_by_key(|part| std::cmp::Reverse(part.taken.ns));
    merged
}

/// In a few words, as a line of a report names it.
impl fmt::Display for Taker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Taker::Thief(thief) => write!(f, "{thief}"),
            Taker::Device(number, name) => write!(f, "irq {number} {name}"),
            Taker::Own => f.write_str("fullclock itself"),
        }
    }
}
