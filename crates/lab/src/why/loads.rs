//! Whether a cache and memory that CPUs share slowed down between two recordings.
//!
//! Code that does the same work at the same clock takes more CPU time where its loads take longer. Loads are timed by a probe that
//! does the same in both recordings, so their time tells a shared cache or memory from code that does more.

use super::{Second, judged_within};
use crate::verdict::{Moments, Verdict, confidence};
use facts::probe::{LoadReading, LoadTime};
use facts::{Fact, Missing};

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
    /// It moved with it: loads take longer where a unit of work takes more CPU time, or less long where it takes less.
    Moved,
    /// It is alike in both, so it is no cause.
    Alike,
    /// It does not decide: too few readings, an interval too wide, or a move in the other direction.
    Undecided,
    /// There is none.
    Unmeasured(&'a Missing),
}

/// Times within so much of each other are alike.
pub(super) const ALIKE: f64 = 0.1;

/// There are two kinds of loads, and one sentence about both.
const COMPARISONS: usize = 2;

impl Loads {
    pub(super) fn of(seconds: [&[Second]; 2]) -> Loads {
        Loads {
            memory: compared(seconds, |it| &it.memory),
            last_level: compared(seconds, |it| &it.last_level),
        }
    }

    /// Those that were timed in both, memory first.
    pub fn known(&self) -> impl Iterator<Item = &LoadTimes> {
        [&self.memory, &self.last_level].into_iter().flatten()
    }

    /// What they say where a unit of work takes more CPU time in B than in A, or less.
    pub fn verdict(&self, is_dearer: bool) -> Shared<'_> {
        let moved = |it: &LoadTimes| match &it.moments.verdict {
            Verdict::Claimed(ratio) => (ratio.log > 0.0) == is_dearer,
            _ => false,
        };
        let is_alike = |it: &LoadTimes| matches!(it.moments.verdict, Verdict::Same { .. });
        match &self.memory {
            _ if self.known().any(moved) => Shared::Moved,
            Err(missing) if self.last_level.is_err() => Shared::Unmeasured(missing),
            Ok(_) if self.known().all(is_alike) => Shared::Alike,
            _ => Shared::Undecided,
        }
    }
}

fn compared(seconds: [&[Second]; 2], of: fn(&LoadReading) -> &Fact<LoadTime>) -> Fact<LoadTimes> {
    let [a, b] = seconds.map(|it| logs(it, of));
    let logs = [a?, b?];
    let readings = logs.each_ref().map(Vec::len);
    let mean = |logs: &Vec<f64>| (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    let ns = logs.each_ref().map(mean);
    let moments = judged_within(logs, confidence(COMPARISONS), Some(ALIKE));
    Ok(LoadTimes { ns, readings, moments })
}

/// The logarithms of the times, in nanoseconds; at least one.
fn logs(seconds: &[Second], of: fn(&LoadReading) -> &Fact<LoadTime>) -> Fact<Vec<f64>> {
    let readings = || seconds.iter().flat_map(|it| &it.loads).map(of);
    let logs: Vec<f64> =
        readings().flatten().map(|it| (it.typical_ps.max(1) as f64 / 1e3).ln()).collect();
    if !logs.is_empty() {
        return Ok(logs);
    }
    let why = readings().find_map(|it| it.as_ref().err()).cloned();
    Err(why.unwrap_or_else(|| Missing::not_collected("the time of loads")))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{A, compared_with, seconds};
    use super::*;

    /// A run in which loads take as long as that, in nanoseconds, with a percent of noise.
    fn loaded(memory: f64, last_level: Option<f64>) -> Vec<Second> {
        let mut seconds = seconds(A);
        for (at, second) in (0..).zip(&mut seconds).step_by(2) {
            let time = |ns: f64| {
                let ps = (ns * 1e3 * (1.0 + f64::from(at * 7 % 11) / 1000.0)) as u64;
                LoadTime { best_ps: ps, typical_ps: ps }
            };
            let none = || Missing::not_here("a load from the last-level cache", "sysfs shows none");
            second.loads.push(LoadReading {
                cpu: 0,
                memory: Ok(time(memory)),
                last_level: last_level.map(time).ok_or_else(none),
                at_ns: 0,
                took_ns: 1,
            });
        }
        seconds
    }

    #[test]
    fn loads_that_take_longer_where_work_costs_more_have_moved_with_it() {
        let found = compared_with(loaded(95.0, Some(20.0)), loaded(140.0, Some(20.0)));
        assert_eq!(found.loads.verdict(true), Shared::Moved);
        assert_eq!(found.loads.verdict(false), Shared::Undecided);
        let memory = found.loads.memory.unwrap();
        assert_eq!(memory.readings, [15, 15]);
        assert!((memory.ns[1] / memory.ns[0] - 140.0 / 95.0).abs() < 0.01, "{memory:?}");
        // The cache alone.
        let found = compared_with(loaded(95.0, Some(20.0)), loaded(95.0, Some(30.0)));
        assert_eq!(found.loads.verdict(true), Shared::Moved);
    }

    #[test]
    fn loads_that_take_as_long_in_both_are_no_cause() {
        let found = compared_with(loaded(95.0, Some(20.0)), loaded(96.0, Some(20.0)));
        assert_eq!(found.loads.verdict(true), Shared::Alike);
        let found = compared_with(loaded(95.0, None), loaded(95.0, None));
        assert_eq!(found.loads.verdict(true), Shared::Alike);
    }

    #[test]
    fn loads_that_nobody_timed_or_few_say_nothing() {
        let found = compared_with(loaded(95.0, Some(20.0)), seconds(A));
        assert!(matches!(found.loads.verdict(true), Shared::Unmeasured(_)));
        let mut few = loaded(140.0, Some(20.0));
        few.iter_mut().skip(6).for_each(|it| it.loads.clear());
        let found = compared_with(loaded(95.0, Some(20.0)), few);
        assert_eq!(found.loads.verdict(true), Shared::Undecided);
    }
}
