//! How long loads take that each need the one before: from the last-level cache, and from memory.
//!
//! Such a chain shows what CPUs share and no clock shows. A neighbour, or the workload itself, that fills the last-level cache or
//! uses the bandwidth of memory makes the same code take more time at the same clock. The probe's program is in `host::probe::Loads`; what
//! its times mean is decided here.
//!
//! *Memory*: the lines were flushed from all caches just before, so each load goes to memory, however large the caches are.
//!
//! *Last-level cache*: the lines were used a few tenths of a millisecond before, and at least as much was read since as the second-level
//! cache holds and half of that again. So they are where a task finds what it used a moment ago and what no longer fits its own
//! caches. Where a neighbour fills the last-level cache within that time, some of these loads come from memory, and the time rises
//! towards that of memory: that is what it is to show.
//!
//! What it cannot know: whether the workload has a smaller part of the cache than before. What the probe left there a second
//! before, a busy workload has evicted by itself. And processors differ in what they keep of lines that leave the second-level
//! cache, so a time is compared with those of the same machine.

use super::TickClock;
use crate::{Fact, Missing, Why};

/// How long loads took on one CPU at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadReading {
    /// The CPU.
    pub cpu: u32,
    /// Loads of flushed lines.
    pub memory: Fact<LoadTime>,
    /// Loads of lines that had left the second-level cache.
    pub last_level: Fact<LoadTime>,
    /// When it was taken, CLOCK_MONOTONIC_RAW in nanoseconds.
    pub at_ns: u64,
    /// CPU time that taking it took, in nanoseconds, preparations included.
    pub took_ns: u64,
}

/// The time of one load, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadTime {
    /// In the fastest batch.
    pub best_ps: u64,
    /// In the batch that a quarter of the others were faster than: interrupts lengthen some.
    pub typical_ps: u64,
}

/// Loads one after the other, timed as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// How many.
    pub loads: u32,
    /// How long they took, in ticks of the CPU's time counter.
    pub ticks: u64,
}

/// Fewer batches make no time.
const FEWEST_BATCHES: usize = 3;

/// A load from any cache takes more than a tenth of a nanosecond, and one from memory less than 0.1 ms, be it emulated.
const POSSIBLE_PS: std::ops::Range<u64> = 100..100_000_000;

impl LoadTime {
    /// Judges the batches of one chain. `overhead_ticks` is what timing no loads takes.
    ///
    /// Missing where there are too few, and where the time is none that a load can take.
    pub fn judge(
        what: &str,
        batches: &[Batch],
        overhead_ticks: u64,
        ticks: &TickClock,
    ) -> Fact<LoadTime> {
        let per_load = |it: &Batch| {
            let net = it.ticks.saturating_sub(overhead_ticks);
            ticks.length_ns(net.saturating_mul(1000)) / u64::from(it.loads.max(1))
        };
        let mut times: Vec<u64> = batches.iter().map(per_load).collect();
        if times.len() < FEWEST_BATCHES {
            let text = format!("{} batches of loads are too few", times.len());
            return Err(Missing { what: what.to_owned(), why: Why::Failed(text) });
        }
        times.sort_unstable();
        let at = |index: usize| times.get(index).copied().unwrap_or_default();
        let time = LoadTime { best_ps: at(0), typical_ps: at(times.len() / 4) };
        if POSSIBLE_PS.contains(&time.typical_ps) {
            return Ok(time);
        }
        let found = format!("{} ps", time.typical_ps);
        Err(Missing::malformed(what, &found, "a time that a load can take"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Anchor;

    /// A counter of 2 GHz: half a nanosecond a tick.
    fn ticks() -> TickClock {
        let anchor = |at| Anchor { ticks: 2 * at, slack_ticks: 0, raw_ns: at };
        TickClock::between(anchor(0), anchor(1_000_000)).unwrap()
    }

    fn batches(ticks: &[u64]) -> Vec<Batch> {
        ticks.iter().map(|&ticks| Batch { loads: 64, ticks }).collect()
    }

    fn judged(of: &[u64]) -> Fact<LoadTime> {
        LoadTime::judge("a load from memory", &batches(of), 40, &ticks())
    }

    #[test]
    fn time_over_loads_is_the_time_of_one_and_an_interrupt_moves_nothing() {
        let time = judged(&[12_840, 13_480, 90_000, 12_200, 13_480]).unwrap();
        assert_eq!((time.best_ps, time.typical_ps), (95_000, 100_000));
    }

    #[test]
    fn what_no_load_takes_is_refused() {
        assert!(judged(&[12_840; 2]).unwrap_err().to_string().contains("2 batches of loads"));
        assert!(judged(&[40; 8]).unwrap_err().to_string().contains("a time that a load can take"));
        assert!(judged(&[u64::MAX / 4; 8]).is_err());
    }
}
