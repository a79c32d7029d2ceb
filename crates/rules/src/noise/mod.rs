//! Noise: how often and for how long CPUs are taken from a task that never gives them up, and by whom.
//!
//! What a spinner sees of its CPU (`facts::probe::Gaps`) is told apart by [`crate::spin`]. Here the gaps become what
//! one asks of them: how long they are, which are the longest, what each thief takes, which CPU is the noisiest.
//!
//! Time that this program takes from its own spinners, to empty the trace, is in the histogram and among the longest
//! gaps, for there it was; it is no noise of the host, and counts neither as lost nor in the ranking.

mod cpu;
#[cfg(test)]
mod fixture;
mod histogram;
mod part;
mod percentiles;

pub use cpu::{CpuNoise, LongGap, Ticks};
pub use histogram::{Bucket, Histogram};
pub use part::{Part, Taker};
pub use percentiles::Percentiles;

use crate::interval::Interval;
use facts::probe::Gaps;
use facts::trace::Event;
use facts::{Missing, PerCpu};
use std::collections::BTreeSet;

/// What was seen while spinners had the CPUs.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// The counters at both ends.
    pub interval: Interval<'a>,
    /// The time line of each CPU's spinner.
    pub gaps: &'a PerCpu<Gaps>,
    /// What was traced on all of them meanwhile, or why nothing was.
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
        part::merged(self.cpus.iter().flat_map(|cpu| &cpu.parts))
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

#[cfg(test)]
mod tests;
