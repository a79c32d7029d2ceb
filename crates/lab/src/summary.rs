//! What the trials of one arm say by themselves: numbers to read, before anything is compared.

use crate::compare::Measure;
use crate::known::Known;
use crate::record::Record;
use crate::server::ServerMeans;
use crate::stats::{Interval, Sample, median};
use crate::trial::{Better, Figure, Trial};
use crate::typical::{Typical, precision};
use rules::loss::Kind;
use rules::losses;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One arm in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// What it is called.
    pub arm: String,
    /// The workload's id.
    pub workload: String,
    /// The CPUs it was kept on, as the kernel writes lists; `None` where the scheduler chose.
    pub cpus: Option<String>,
    /// How many trials it has.
    pub trials: usize,
    /// The main figure first.
    pub figures: Vec<Spread>,
    /// The clock of its CPUs, in hertz.
    pub clock: Known<Spread>,
    /// What a trial took with the clock taken out: the main figure in cycles, where it is a time.
    pub cycles: Known<Spread>,
    /// What was lost around the trials, the largest first, as shares of the CPUs' time.
    pub lost: Vec<Lost>,
    /// What the server under test did, where one was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerMeans>,
}

/// What some values have in common: the typical one with its interval, the median, the lowest and the highest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// What they are: `elapsed`.
    pub name: String,
    /// What they are counted in.
    pub unit: String,
    /// Which way is faster.
    pub better: Better,
    /// The typical one: the mean of their logarithms without the fifth at either end, turned back; of values that are not all above
    /// 0, that mean of the values themselves.
    pub typical: f64,
    /// Where the true typical value lies; missing with fewer than five.
    pub interval: Known<Interval>,
    /// The chance that the interval holds it, such as 0.99.
    pub confidence: f64,
    /// The middle one.
    pub median: f64,
    /// The lowest.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
}

/// A line of the ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lost {
    /// The loss's id.
    pub loss: String,
    /// Of the CPUs' time in all windows of the trials.
    pub share: f64,
}

impl Spread {
    /// Half of the interval as a share of the typical value.
    pub fn precision(&self) -> Option<f64> {
        precision(self.typical, *self.interval.value()?)
    }
}

/// The arm of `record` that stands in that place.
pub fn summary(record: &Record, arm: usize) -> Option<Summary> {
    let described = record.arms.get(arm)?;
    let trials: Vec<&Trial> = record.trials.iter().filter(|it| it.arm == arm).collect();
    let first = trials.first()?;
    let main = first.outcome.figures.first()?;
    let of_figure = |place: usize, shape: Figure<&str>| {
        let values =
            trials.iter().filter_map(|it| it.outcome.figures.get(place)).map(|it| it.value);
        spread(shape, values.collect())
    };
    let figures = first.outcome.figures.iter().enumerate();
    Some(Summary {
        arm: described.name.clone(),
        workload: described.workload.clone(),
        cpus: described.cpus.clone(),
        trials: trials.len(),
        figures: figures.filter_map(|(place, it)| of_figure(place, it)).collect(),
        clock: of_clock(&trials),
        cycles: of_cycles(&trials, main),
        lost: lost(&trials),
        server: ServerMeans::of(&trials),
    })
}

fn spread(shape: Figure<&str>, values: Vec<f64>) -> Option<Spread> {
    let sample = Sample::new(values).ok()?;
    let Typical { value, interval, confidence } = Typical::of(&sample);
    Some(Spread {
        name: shape.name.to_owned(),
        unit: shape.unit.to_owned(),
        better: shape.better,
        typical: value,
        interval,
        confidence,
        median: median(&sample),
        lowest: sample.quantile(0.0),
        highest: sample.quantile(1.0),
    })
}

fn of_clock(trials: &[&Trial]) -> Known<Spread> {
    let clocks: Vec<f64> =
        trials.iter().filter_map(|it| Some(it.clock.value()?.mean_hz())).collect();
    let why = trials.iter().find_map(|it| it.clock.reason());
    known(spread(shape("clock", "Hz", Better::Higher), clocks), why)
}

fn of_cycles(trials: &[&Trial], main: Figure<&str>) -> Known<Spread> {
    if main.unit != "s" {
        return Known::missing(format!("{} is not a time", main.name));
    }
    let cycles =
        trials.iter().filter_map(|it| Measure::FigureCycles.of(it)).map(f64::exp).collect();
    let why = trials.iter().find_map(|it| it.clock.reason());
    known(spread(shape("cycles", "cycles", Better::Lower), cycles), why)
}

fn shape<'a>(name: &'a str, unit: &'a str, better: Better) -> Figure<&'a str> {
    Figure { name, unit, value: 0.0, better }
}

fn known(spread: Option<Spread>, why: Option<&str>) -> Known<Spread> {
    let why = why.unwrap_or("no trial has it");
    spread.map_or_else(|| Known::missing(why), Known::Value)
}

fn lost(trials: &[&Trial]) -> Vec<Lost> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    let mut windows = 0.0;
    for around in trials.iter().filter_map(|it| it.surroundings.value()) {
        windows += around.window_ns as f64;
        for line in &around.ledger {
            let is_lost = losses::find(line.loss).is_some_and(|it| it.kind == Kind::Lost);
            if let Some(share) = line.share.value().filter(|_| is_lost) {
                *sums.entry(line.loss).or_default() += share * around.window_ns as f64;
            }
        }
    }
    let share = |sum: f64| if windows > 0.0 { sum / windows } else { 0.0 };
    let mut lost: Vec<Lost> = sums
        .into_iter()
        .map(|(loss, sum)| Lost { loss: loss.to_owned(), share: share(sum) })
        .collect();
    lost.sort_by(|a, b| b.share.total_cmp(&a.share));
    lost
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::moment;

    #[test]
    fn an_arm_is_its_typical_trial_its_interval_and_its_clock() {
        let record = moment(1.0, 2.5e9, 0.003);
        let found = summary(&record, 0).unwrap();
        let main = &found.figures[0];
        assert!((main.typical - 1.0).abs() < 0.003, "{main:?}");
        assert!(main.lowest <= main.median && main.median <= main.highest);
        assert!(main.interval.value().unwrap().contains(main.typical));
        assert!(main.precision().unwrap() < 0.003);
        assert!((found.clock.value().unwrap().typical / 2.5e9 - 1.0).abs() < 1e-3);
        assert!((found.cycles.value().unwrap().typical / 2.5e9 - 1.0).abs() < 0.003);
    }

    #[test]
    fn four_trials_have_no_interval_and_none_have_no_summary() {
        let mut record = moment(1.0, 2.5e9, 0.003);
        record.trials.truncate(4);
        let found = summary(&record, 0).unwrap();
        assert!(found.figures[0].interval.reason().is_some());
        record.trials.clear();
        assert_eq!(summary(&record, 0), None);
        assert_eq!(summary(&record, 7), None);
    }

    fn typical(values: impl IntoIterator<Item = f64>) -> Typical {
        Typical::of(&Sample::new(values.into_iter().collect()).unwrap())
    }

    /// Nothing of four is trimmed, and the geometric mean of 1, 10, 100 and 1000 is 10^1.5.
    #[test]
    fn it_is_typical_by_logarithms_and_alike_for_a_time_and_its_rate() {
        let four = typical([1.0, 1000.0, 10.0, 100.0]).value;
        assert!((four - 10.0_f64.powf(1.5)).abs() < 1e-9, "{four}");
        let times = [1.0, 1.2, 1.1, 1.4, 1.05, 1.3, 1.15, 1.25];
        let (time, rate) = (typical(times), typical(times.map(f64::recip)));
        assert!((time.value * rate.value - 1.0).abs() < 1e-12);
        let (time, rate) = (time.interval.value().unwrap(), rate.interval.value().unwrap());
        assert!((time.low * rate.high - 1.0).abs() < 1e-12, "{time:?} {rate:?}");
        assert!(time.low > 0.0);
    }

    #[test]
    fn values_of_0_and_below_are_taken_as_they_are() {
        let around_nothing = typical((-10..=10).map(f64::from));
        assert_eq!(around_nothing.value, 0.0);
        let interval = *around_nothing.interval.value().unwrap();
        assert!(interval.contains(0.0) && interval.low < -1.0, "{interval:?}");
        assert_eq!(precision(0.0, interval), None);
        assert_eq!(typical([0.0; 6]).interval, Known::Value(Interval { low: 0.0, high: 0.0 }));
    }

    #[test]
    fn an_interval_without_an_end_is_none() {
        let wild = typical([1e-300, 1e300, 1e-300, 1e300, 1e-300, 1e300]);
        assert!(wild.interval.reason().unwrap().contains("differ too much"), "{wild:?}");
    }
}
