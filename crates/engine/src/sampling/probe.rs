//! Probes the clock of CPUs, one after the other.

use facts::probe::ClockReading;
use facts::{CpuSet, PerCpu};
use host::probe::{Windows, clock, pinned};

/// How many CPUs are probed in one interval: of a machine that is all busy, others in each.
const MOST: usize = 64;

/// Probes the CPUs that are due, one after the other; `turn` counts the intervals.
pub(super) fn probe(cpus: &CpuSet, turn: usize) -> PerCpu<ClockReading> {
    let cpus: Vec<u32> = cpus.iter().collect();
    let first = if cpus.len() > MOST { turn.wrapping_mul(MOST) % cpus.len() } else { 0 };
    let (before, from) = cpus.split_at(first);
    let due = from.iter().chain(before).take(MOST);
    due.map(|&cpu| (cpu, pinned(cpu, || clock(Windows::SHORT)).flatten())).collect()
}
