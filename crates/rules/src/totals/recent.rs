//! What was seen of clocks and temperatures lately: states, which no count replaces.

use crate::metric::Values;
use crate::watch::Reading;
use facts::Hertz;
use std::collections::BTreeMap;

/// Clocks of half a minute are thrown away together: what is shown rests on the last 30 to 60 s.
const HALF_NS: u64 = 30_000_000_000;

/// The metrics that show the clock of a busy CPU, the better first.
const CLOCKS: [&str; 2] = ["busy-mhz", "clock-probe"];

/// What the intervals of the last minute showed.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    earlier: BTreeMap<u32, Mean>,
    later: BTreeMap<u32, Mean>,
    /// When the later half began.
    began_ns: u64,
    /// The hottest core at the end of the last interval, in degrees Celsius; `None` where no sensor tells.
    pub hottest: Option<f64>,
    /// The nominal clock that others are compared with.
    pub nominal: Option<Hertz>,
}

/// A mean as it grows.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    n: f64,
}

impl Recent {
    /// Adds an interval.
    pub(super) fn add(&mut self, reading: &Reading, nominal: Option<Hertz>) {
        if reading.at.raw_ns.saturating_sub(self.began_ns) >= HALF_NS {
            self.earlier = std::mem::take(&mut self.later);
            self.began_ns = reading.at.raw_ns;
        }
        self.nominal = nominal;
        for (cpu, mhz) in busy_mhz(reading) {
            let mean = self.later.entry(cpu).or_default();
            mean.sum += mhz;
            mean.n += 1.0;
        }
        self.hottest = hottest(reading);
    }

    /// The clock of each CPU that was busy, over the nominal one. Empty where no CPU was busy, its clock is not visible, or the
    /// nominal clock is unknown.
    pub fn clock_ratios(&self) -> BTreeMap<u32, f64> {
        let Some(nominal) = self.nominal.filter(|it| it.0 > 0) else { return BTreeMap::new() };
        let cpus = self.earlier.keys().chain(self.later.keys());
        let ratio = |cpu: &u32| {
            let halves = [self.earlier.get(cpu), self.later.get(cpu)].into_iter().flatten();
            let (sum, n) = halves.fold((0.0, 0.0), |(sum, n), it| (sum + it.sum, n + it.n));
            (*cpu, sum * 1e6 / n / nominal.0 as f64)
        };
        cpus.map(ratio).collect()
    }
}

/// The clock of each CPU that was busy, in MHz.
fn busy_mhz(reading: &Reading) -> BTreeMap<u32, f64> {
    let mut clocks = BTreeMap::new();
    for id in CLOCKS {
        for column in reading.columns.iter().filter(|it| it.metric.id == id) {
            if let Ok(Values::Cpus(values)) = column.series.as_ref().map(|it| &it.values) {
                for (cpu, mhz) in values.known() {
                    clocks.entry(cpu).or_insert(*mhz);
                }
            }
        }
    }
    clocks
}

fn hottest(reading: &Reading) -> Option<f64> {
    let column = reading.columns.iter().find(|it| it.metric.id == "temperature")?;
    let cores = column.series.as_ref().ok()?.values.rows()?;
    cores.known().map(|it| *it.1).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::fake;

    const NOMINAL: Option<Hertz> = Some(Hertz(2_500_000_000));

    #[test]
    fn the_clock_of_a_cpu_is_the_mean_of_its_busy_intervals_over_the_nominal_one() {
        let mut recent = Recent::default();
        for at in 1..=20 {
            recent.add(&fake::reading(4, at), NOMINAL);
        }
        let clocks: Vec<f64> =
            (1..=20).filter_map(|at| busy_mhz(&fake::reading(4, at)).get(&2).copied()).collect();
        let expected = clocks.iter().sum::<f64>() / clocks.len() as f64 / 2500.0;
        assert!(!clocks.is_empty() && clocks.len() < 20, "{clocks:?}");
        assert!((recent.clock_ratios()[&2] - expected).abs() < 1e-9);
    }

    #[test]
    fn what_is_over_a_minute_old_is_gone() {
        let mut recent = Recent::default();
        recent.add(&fake::reading(4, 31), NOMINAL);
        assert!(!recent.clock_ratios().is_empty());
        let mut idle = fake::reading(4, 62);
        idle.columns.clear();
        recent.add(&idle, NOMINAL);
        assert!(!recent.clock_ratios().is_empty());
        idle.at.raw_ns = 93_000_000_000;
        recent.add(&idle, NOMINAL);
        assert!(recent.clock_ratios().is_empty());
    }

    #[test]
    fn without_a_nominal_clock_there_is_no_ratio() {
        let mut recent = Recent::default();
        recent.add(&fake::reading(4, 1), None);
        assert!(recent.clock_ratios().is_empty());
    }
}
