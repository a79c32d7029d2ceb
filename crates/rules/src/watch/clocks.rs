//! The clocks that the probe saw lately, for the ledgers of short intervals.
//!
//! An interval of a second has one reading of each busy CPU, and none of one that did little. Its ledger alone would not know what the
//! time of the latter was worth, and where nothing names the nominal clock would hold the former against the higher of one or two
//! readings, as the ledger of a minute does against the highest of all. Intervals would then add up to another ledger than that of the
//! whole time.

use super::probe::{BUSY, busy};
use crate::interval::Interval;
use facts::probe::ClockReading;
use facts::{CpuSet, Hertz, PerCpu};
use std::collections::BTreeMap;

/// For how long a reading stands for a CPU of which there is no newer one, in nanoseconds.
const KEPT_NS: u64 = 120_000_000_000;

/// After how long a CPU that does little is probed again, in nanoseconds: a probe of 1.1 ms is then 0.002 % of it.
const AGAIN_NS: u64 = 60_000_000_000;

/// The highest clock is that of this time at least and of twice as long at most, in nanoseconds.
const HIGHEST_NS: u64 = 60_000_000_000;

/// Less of the interval, in percent, is worth nothing: a CPU that does nothing at all is left asleep.
const LITTLE: f64 = 0.1;

/// More that do little are not probed after one interval: that takes 9 ms.
const MOST_AT_ONCE: usize = 8;

/// What the probe saw of a host lately.
#[derive(Clone, Debug, Default)]
pub struct KnownClocks {
    /// The latest reading of each CPU, with the time of its sample.
    readings: BTreeMap<u32, (u64, ClockReading)>,
    earlier: Option<Hertz>,
    later: Option<Hertz>,
    /// When `later` began.
    began_ns: u64,
}

impl KnownClocks {
    /// Adds what was probed at a sample, which may be nothing; `at_ns` is its CLOCK_MONOTONIC_RAW.
    pub fn add(&mut self, at_ns: u64, clocks: &PerCpu<ClockReading>) {
        if at_ns < self.began_ns {
            // Another boot of the machine.
            *self = KnownClocks::default();
        }
        if at_ns - self.began_ns >= HIGHEST_NS {
            self.earlier = self.later.take();
            self.began_ns = at_ns;
        }
        for (cpu, reading) in clocks.known() {
            self.later = self.later.max(Some(reading.median));
            self.readings.insert(cpu, (at_ns, *reading));
        }
        self.readings.retain(|_, (seen_ns, _)| at_ns.saturating_sub(*seen_ns) <= KEPT_NS);
    }

    /// The highest that was seen lately on any CPU.
    pub fn highest(&self) -> Option<Hertz> {
        self.earlier.max(self.later)
    }

    /// The readings of an interval, and where there is none of a CPU the latest one.
    pub(super) fn and(&self, clocks: &PerCpu<ClockReading>) -> PerCpu<Vec<ClockReading>> {
        let known = self.readings.iter().map(|(cpu, (_, it))| (*cpu, Ok(vec![*it])));
        let of_interval = clocks.iter().map(|(cpu, it)| (cpu, it.clone().map(|it| vec![it])));
        let mut all: BTreeMap<u32, _> = of_interval.collect();
        for (cpu, latest) in known {
            if !matches!(all.get(&cpu), Some(Ok(_))) {
                all.insert(cpu, latest);
            }
        }
        all.into_iter().collect()
    }

    /// Those of `cpus` that did little in the interval and of which no reading is known that is young; a few.
    pub fn due(&self, interval: &Interval, cpus: &CpuSet) -> CpuSet {
        let at_ns = interval.after.at.raw_ns;
        let is_known = |cpu: &u32| {
            let seen = self.readings.get(cpu);
            seen.is_some_and(|(seen_ns, _)| at_ns.saturating_sub(*seen_ns) < AGAIN_NS)
        };
        let little = busy(interval, LITTLE).minus(&busy(interval, BUSY)).and(cpus);
        little.iter().filter(|cpu| !is_known(cpu)).take(MOST_AT_ONCE).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::counters;
    use facts::Missing;

    const SECOND_NS: u64 = 1_000_000_000;

    fn reading(cpu: u32, mhz: u64) -> (u32, facts::Fact<ClockReading>) {
        let clock = Hertz(mhz * 1_000_000);
        let reading = ClockReading {
            cpu,
            best: clock,
            median: clock,
            mean: clock,
            spread: 0.0,
            disagreement: 0.0,
            windows: 10,
            rejected: 0,
            at_ns: 0,
            took_ns: 1_100_000,
        };
        (cpu, Ok(reading))
    }

    fn clocks(readings: &[(u32, u64)]) -> PerCpu<ClockReading> {
        readings.iter().map(|(cpu, mhz)| reading(*cpu, *mhz)).collect()
    }

    fn mhz(known: &KnownClocks, now: &PerCpu<ClockReading>) -> Vec<(u32, Option<u64>)> {
        let all = known.and(now);
        let of = |it: &facts::Fact<Vec<ClockReading>>| {
            it.as_ref().ok().map(|it| it[0].median.0 / 1_000_000)
        };
        all.iter().map(|(cpu, it)| (cpu, of(it))).collect()
    }

    #[test]
    fn a_cpu_without_a_reading_has_its_latest_for_two_minutes() {
        let mut known = KnownClocks::default();
        known.add(1000 * SECOND_NS, &clocks(&[(0, 3000), (1, 2900)]));
        let now = PerCpu::from_iter([reading(0, 2800), (1, Err(Missing::absent("a clock")))]);
        assert_eq!(mhz(&known, &now), [(0, Some(2800)), (1, Some(2900))]);
        known.add(1121 * SECOND_NS, &clocks(&[(0, 2800)]));
        assert_eq!(mhz(&known, &now), [(0, Some(2800)), (1, None)]);
    }

    #[test]
    fn the_highest_is_that_of_the_last_minute_or_two_and_of_this_boot() {
        let mut known = KnownClocks::default();
        assert_eq!(known.highest(), None);
        known.add(1000 * SECOND_NS, &clocks(&[(0, 3500), (1, 2900)]));
        known.add(1061 * SECOND_NS, &clocks(&[(0, 3000)]));
        assert_eq!(known.highest(), Some(Hertz(3_500_000_000)));
        known.add(1122 * SECOND_NS, &clocks(&[]));
        assert_eq!(known.highest(), Some(Hertz(3_000_000_000)));
        known.add(SECOND_NS, &clocks(&[(0, 2000)]));
        assert_eq!(known.highest(), Some(Hertz(2_000_000_000)));
    }

    #[test]
    fn who_does_little_is_probed_once_a_minute_and_who_does_nothing_never() {
        let host = crate::fixture::host_of("");
        // 1 %, half, nothing.
        let before = counters("at 200000\nCpuTimes idle iowait\n0 0 0\n1 0 0\n2 0 0\n");
        let after = counters("at 201000\nCpuTimes idle iowait\n0 99 0\n1 50 0\n2 100 0\n");
        let interval = Interval { host: &host, before: &before, after: &after };
        let all = CpuSet::parse_list("0-2").unwrap();
        let mut known = KnownClocks::default();
        assert_eq!(known.due(&interval, &all).to_string(), "0");
        known.add(after.at.raw_ns - 59 * SECOND_NS, &clocks(&[(0, 3000)]));
        assert_eq!(known.due(&interval, &all).to_string(), "");
        let mut known = KnownClocks::default();
        known.add(after.at.raw_ns - 60 * SECOND_NS, &clocks(&[(0, 3000)]));
        assert_eq!(known.due(&interval, &all).to_string(), "0");
    }
}
