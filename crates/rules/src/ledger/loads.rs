//! How long loads from memory and from the last-level cache took in an interval.

use facts::probe::{LoadReading, LoadTime};
use facts::{Fact, Missing};

/// The time of loads in an interval, by where they came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loads {
    /// From memory.
    pub memory: Fact<LoadTimes>,
    /// From the last-level cache.
    pub last_level: Fact<LoadTimes>,
}

/// The time of one load over several readings, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadTimes {
    /// The median of the readings.
    pub median_ps: u64,
    /// The lowest reading: the nearest to a quiet machine that there was.
    pub lowest_ps: u64,
    /// How many readings there are.
    pub readings: usize,
}

impl Loads {
    /// `None` without a reading.
    pub(super) fn of(readings: &[LoadReading]) -> Option<Loads> {
        (!readings.is_empty()).then(|| Loads {
            memory: times(readings, |it| &it.memory),
            last_level: times(readings, |it| &it.last_level),
        })
    }
}

/// Where no reading has a time, the reason of the last one.
fn times(readings: &[LoadReading], of: fn(&LoadReading) -> &Fact<LoadTime>) -> Fact<LoadTimes> {
    let mut known: Vec<u64> = readings.iter().flat_map(of).map(|it| it.typical_ps).collect();
    known.sort_unstable();
    let at = |index: usize| known.get(index).copied();
    let median_ps = at(known.len() / 2);
    match median_ps.zip(at(0)) {
        Some((median_ps, lowest_ps)) => {
            Ok(LoadTimes { median_ps, lowest_ps, readings: known.len() })
        }
        None => {
            let missing = readings.iter().rev().find_map(|it| of(it).as_ref().err());
            Err(missing.cloned().unwrap_or_else(|| Missing::not_collected("the time of a load")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(memory_ps: Option<u64>) -> LoadReading {
        let memory = memory_ps.map(|ps| LoadTime { best_ps: ps - 1, typical_ps: ps });
        LoadReading {
            cpu: 0,
            memory: memory.ok_or_else(|| Missing::denied("memory")),
            last_level: Err(Missing::not_here("a third-level cache", "sysfs shows none")),
            at_ns: 0,
            took_ns: 0,
        }
    }

    #[test]
    fn the_median_and_the_lowest_of_the_readings_that_have_a_time() {
        let readings = [Some(95), None, Some(140), Some(96)].map(reading);
        let loads = Loads::of(&readings).unwrap();
        assert_eq!(loads.memory, Ok(LoadTimes { median_ps: 96, lowest_ps: 95, readings: 3 }));
        assert!(loads.last_level.unwrap_err().is_absence());
        assert_eq!(Loads::of(&[]), None);
    }
}
