//! The clock of CPUs by a timed chain of instructions, where no counter shows it, and the time of loads.

use crate::measure::costs::open_to_us;
use facts::counters::{Counters, Family};
use facts::probe::{ClockReading, LoadReading};
use facts::{CpuSet, HostView, PerCpu};
use host::Live;
use host::probe::{Loads, Windows, clock, pinned};

/// How many CPUs are probed in one interval: of a machine that is all busy, others in each.
const MOST: usize = 64;

/// Probes these CPUs, one after the other, which takes 1.1 ms of each; `turn` counts the intervals.
pub(super) fn probe(cpus: &CpuSet, turn: usize) -> PerCpu<ClockReading> {
    let cpus: Vec<u32> = cpus.iter().collect();
    let first = if cpus.len() > MOST { turn.wrapping_mul(MOST) % cpus.len() } else { 0 };
    let (before, from) = cpus.split_at(first);
    let due = from.iter().chain(before).take(MOST);
    due.map(|&cpu| (cpu, pinned(cpu, || clock(Windows::SHORT)).flatten())).collect()
}

/// Times loads on the next of the busy CPUs, where that is due, but on none that somebody has cleared of other work, or may have.
pub(super) fn loads(
    loads: &mut Loads,
    host: &HostView,
    busy: impl FnOnce() -> CpuSet,
) -> PerCpu<LoadReading> {
    if !loads.is_due() {
        return PerCpu::default();
    }
    let open = open_to_us(host, &busy()).unwrap_or_default();
    loads.read(&Live::this_machine(), &open).into_iter().collect()
}

/// Whether the processor counts its cycles, so that no CPU has to be probed.
pub(super) fn are_counted(counters: &Counters) -> bool {
    let clocks = counters.table(Family::Clocks);
    clocks.is_ok_and(|it| it.column("aperf").is_ok() && it.blank_rows().is_empty())
}
