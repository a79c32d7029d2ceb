//! Whether loads from a cache and memory that CPUs share took another time in two recordings.
//!
//! Code that does the same work at the same clock takes more CPU time where its loads take longer. Loads are timed by a probe that
//! does the same in both recordings. Its time rises by a neighbour as by what the workload itself loads, so it names no cause. A cache may
//! run at the clock of its CPUs, so a change that the clock may have made counts for nothing. CPUs differ in how far they are from
//! memory, so each is compared with itself.

use super::{Second, Shares, judged_within};
use crate::verdict::{Moments, Verdict, confidence};
use facts::probe::{LoadReading, LoadTime};
use facts::{Fact, Missing};
use std::collections::BTreeMap;

/// The time of loads in both recordings, by where they came from.
#[derive(Clone, Debug)]
pub struct Loads {
    /// From memory.
    pub memory: Fact<LoadTimes>,
    /// From the last-level cache.
    pub last_level: Fact<LoadTimes>,
}

/// The time of one kind of load.
#[derive(Clone, Copy, Debug)]
pub struct LoadTimes {
    /// The geometric mean of the readings of A and of B, in nanoseconds.
    pub ns: [f64; 2],
    /// How many readings there are of each.
    pub readings: [usize; 2],
    /// Whether they differ.
    pub moments: Moments,
}

/// What the time of loads says of a unit of work that takes another CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared<'a> {
    /// It moved with it, by more than the clock did: loads take longer where a unit of work takes more CPU time, or less long where it
    /// takes less.
    Moved,
    /// It is alike in both, and a unit of work takes another CPU time by more than that, so it does not explain it.
    Alike,
    /// It does not decide: too few readings, an interval too wide, a move in the other direction or of the clock.
    Undecided,
    /// There is none.
    Unmeasured(&'a Missing),
}

/// Times within so much of each other are alike.
pub const ALIKE: f64 = 0.1;

/// A claimed move is larger than that of the clock by more than this.
const BEYOND_CLOCK: f64 = 0.05;

/// There are two kinds of loads, and one sentence about both.
const COMPARISONS: usize = 2;

impl LoadTimes {
    /// Whether they moved with CPU time per unit of work, by more than the clock may have moved them.
    pub fn moved_with(&self, shares: &Shares) -> bool {
        match (&self.moments.verdict, shares.clock) {
            (Verdict::Claimed(ratio), Some(clock)) => {
                let is_dearer = shares.cost < 0.0;
                let is_beyond = ratio.near_end() > clock.abs() + BEYOND_CLOCK.ln_1p();
                (ratio.log > 0.0) == is_dearer && is_beyond
            }
            _ => false,
        }
    }

    fn are_alike(&self) -> bool {
        matches!(self.moments.verdict, Verdict::Same { .. })
    }
}

impl Loads {
    pub(super) fn of(seconds: [&[Second]; 2]) -> Loads {
        Loads {
            memory: compared(seconds, |it| &it.memory),
            last_level: compared(seconds, |it| &it.last_level),
        }
    }

    /// Of recordings whose times of loads are not comparable.
    pub fn unknown(why: &Missing) -> Loads {
        Loads { memory: Err(why.clone()), last_level: Err(why.clone()) }
    }

    fn known(&self) -> impl Iterator<Item = &LoadTimes> {
        [&self.memory, &self.last_level].into_iter().flatten()
    }

    /// What they say of the part of a change that CPU time per unit of work makes at the same clock.
    pub fn verdict(&self, shares: &Shares) -> Shared<'_> {
        let is_large = shares.cost.abs() > (2.0 * ALIKE).ln_1p();
        match (&self.memory, &self.last_level) {
            (Err(missing), Err(_)) => Shared::Unmeasured(missing),
            _ if self.known().any(|it| it.moved_with(shares)) => Shared::Moved,
            (Ok(_), Ok(_)) if is_large && self.known().all(LoadTimes::are_alike) => Shared::Alike,
            _ => Shared::Undecided,
        }
    }
}

fn compared(seconds: [&[Second]; 2], of: fn(&LoadReading) -> &Fact<LoadTime>) -> Fact<LoadTimes> {
    let [a, b] = seconds.map(|it| logs(it, of));
    let logs = of_both(&[a?, b?]);
    let readings = logs.each_ref().map(Vec::len);
    if readings.contains(&0) {
        let why = "no CPU was timed in both recordings";
        return Err(Missing::not_here("time of loads", why));
    }
    let mean = |logs: &Vec<f64>| (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    let ns = logs.each_ref().map(mean);
    let moments = judged_within(logs, confidence(COMPARISONS), Some(ALIKE));
    Ok(LoadTimes { ns, readings, moments })
}

/// The logarithms of the times, in nanoseconds, with their CPU, in order; at least one.
fn logs(seconds: &[Second], of: fn(&LoadReading) -> &Fact<LoadTime>) -> Fact<Vec<(u32, f64)>> {
    let readings = || seconds.iter().flat_map(|it| &it.loads);
    let log = |it: &LoadReading| {
        let time = of(it).as_ref().ok()?;
        Some((it.cpu, (time.typical_ps.max(1) as f64 / 1e3).ln()))
    };
    let logs: Vec<(u32, f64)> = readings().filter_map(log).collect();
    if !logs.is_empty() {
        return Ok(logs);
    }
    let why = readings().find_map(|it| of(it).as_ref().err()).cloned();
    Err(why.unwrap_or_else(|| Missing::not_collected("the time of loads")))
}

/// Those of CPUs that were read in both recordings, as many of each CPU: of the recording with more of them, evenly over time.
fn of_both(logs: &[Vec<(u32, f64)>; 2]) -> [Vec<f64>; 2] {
    let [a, b] = logs;
    [(a, b), (b, a)].map(|(mine, other)| {
        let (mine_counts, other_counts) = (counts(mine), counts(other));
        let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
        let is_kept = |(cpu, log): &(u32, f64)| {
            let n = |of: &BTreeMap<u32, usize>| of.get(cpu).copied().unwrap_or_default();
            let all = n(&mine_counts).max(1);
            let wanted = all.min(n(&other_counts));
            let at = seen.entry(*cpu).or_default();
            *at += 1;
            (*at * wanted / all > (*at - 1) * wanted / all).then_some(*log)
        };
        mine.iter().filter_map(is_kept).collect()
    })
}

fn counts(logs: &[(u32, f64)]) -> BTreeMap<u32, usize> {
    let mut counts = BTreeMap::new();
    logs.iter().for_each(|(cpu, _)| *counts.entry(*cpu).or_default() += 1);
    counts
}

#[cfg(test)]
mod tests {
    use super::super::tests::{A, Made, compared_with, seconds};
    use super::*;

    /// Half as much work by the same CPU time.
    const DEARER: Made = Made { number: 500.0, ..A };

    /// Times of loads from memory and from the last-level cache, in nanoseconds.
    type Times = (f64, Option<f64>);

    /// A run in which loads take as long as that, with a percent of noise.
    fn loaded(made: Made, times: Times) -> Vec<Second> {
        let mut seconds = seconds(made);
        for (at, second) in (0..).zip(&mut seconds).step_by(2) {
            second.loads.push(reading(0, times, 1.0 + f64::from(at * 7 % 11) / 1000.0));
        }
        seconds
    }

    fn reading(cpu: u32, (memory, last_level): Times, noise: f64) -> LoadReading {
        let time = |ns: f64| {
            let ps = (ns * 1e3 * noise) as u64;
            LoadTime { best_ps: ps, typical_ps: ps }
        };
        let none = || Missing::not_here("a load from the last-level cache", "sysfs shows none");
        let last_level = last_level.map(time).ok_or_else(none);
        LoadReading { cpu, memory: Ok(time(memory)), last_level, at_ns: 0, took_ns: 1 }
    }

    /// What is said where a unit of work takes twice the CPU time.
    fn verdict_of(a: Times, b: Times) -> Shared<'static> {
        let found = compared_with(loaded(A, a), loaded(DEARER, b));
        told(found.loads.verdict(&found.shares.unwrap()))
    }

    fn told(of: Shared<'_>) -> Shared<'static> {
        match of {
            Shared::Moved => Shared::Moved,
            Shared::Alike => Shared::Alike,
            Shared::Undecided => Shared::Undecided,
            Shared::Unmeasured(missing) => panic!("{missing}"),
        }
    }

    #[test]
    fn loads_that_take_longer_where_work_costs_more_have_moved_with_it() {
        let found =
            compared_with(loaded(A, (95.0, Some(20.0))), loaded(DEARER, (140.0, Some(20.0))));
        let shares = found.shares.unwrap();
        assert_eq!(found.loads.verdict(&shares), Shared::Moved);
        let cheaper = Shares { cost: -shares.cost, ..shares };
        assert_eq!(found.loads.verdict(&cheaper), Shared::Undecided);
        let memory = found.loads.memory.unwrap();
        assert_eq!(memory.readings, [15, 15]);
        assert!((memory.ns[1] / memory.ns[0] - 140.0 / 95.0).abs() < 0.01, "{memory:?}");
        // The cache alone.
        assert_eq!(verdict_of((95.0, Some(20.0)), (95.0, Some(30.0))), Shared::Moved);
    }

    #[test]
    fn a_move_that_the_clock_may_have_made_is_none() {
        // A tenth of what B's CPUs ran was lost to the clock.
        let slow = Made { slow: 0.16, ..DEARER };
        let found = compared_with(loaded(A, (95.0, Some(20.0))), loaded(slow, (95.0, Some(22.0))));
        let shares = found.shares.unwrap();
        assert!(shares.clock.unwrap() < -0.09, "{shares:?}");
        assert_eq!(found.loads.verdict(&shares), Shared::Undecided);
        assert_eq!(found.loads.verdict(&Shares { clock: Some(0.0), ..shares }), Shared::Moved);
        assert_eq!(found.loads.verdict(&Shares { clock: None, ..shares }), Shared::Undecided);
    }

    #[test]
    fn loads_that_take_as_long_in_both_explain_no_large_change() {
        assert_eq!(verdict_of((95.0, Some(20.0)), (96.0, Some(20.0))), Shared::Alike);
        // Each of both kinds has to be known.
        assert_eq!(verdict_of((95.0, None), (95.0, None)), Shared::Undecided);
        // A change of a tenth may be that of loads which are alike within a tenth.
        let little = Made { number: 900.0, ..A };
        let found =
            compared_with(loaded(A, (95.0, Some(20.0))), loaded(little, (95.0, Some(20.0))));
        assert_eq!(found.loads.verdict(&found.shares.unwrap()), Shared::Undecided);
    }

    #[test]
    fn loads_that_nobody_timed_or_few_say_nothing() {
        let found = compared_with(loaded(A, (95.0, Some(20.0))), seconds(DEARER));
        assert!(matches!(found.loads.verdict(&found.shares.unwrap()), Shared::Unmeasured(_)));
        let mut few = loaded(DEARER, (140.0, Some(20.0)));
        few.iter_mut().skip(6).for_each(|it| it.loads.clear());
        let found = compared_with(loaded(A, (95.0, Some(20.0))), few);
        assert_eq!(found.loads.verdict(&found.shares.unwrap()), Shared::Undecided);
    }

    #[test]
    fn a_cpu_is_compared_with_itself_and_one_of_one_recording_with_nothing() {
        // Memory is farther from CPU 1, which was read in each second of B and in a few of A.
        let near = (95.0, Some(20.0));
        let far = (190.0, Some(20.0));
        let mut a = loaded(A, near);
        a.iter_mut().skip(1).step_by(6).for_each(|it| it.loads.push(reading(1, far, 1.0)));
        let mut b = loaded(DEARER, near);
        b.iter_mut().for_each(|it| it.loads.push(reading(1, far, 1.0)));
        let found = compared_with(a.clone(), b.clone());
        let memory = found.loads.memory.unwrap();
        assert_eq!(memory.readings, [20, 20]);
        assert!((memory.ns[1] / memory.ns[0] - 1.0).abs() < 0.01, "{memory:?}");
        a.iter_mut().for_each(|it| it.loads.retain(|it| it.cpu == 0));
        b.iter_mut().for_each(|it| it.loads.retain(|it| it.cpu == 1));
        let none = compared_with(a, b).loads.memory.unwrap_err().to_string();
        assert!(none.contains("no CPU was timed in both recordings"), "{none}");
    }
}
