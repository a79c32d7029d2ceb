//! What the trials of one arm say by themselves: numbers to read, before anything is compared.

use crate::compare::Measure;
use crate::known::Known;
use crate::record::Record;
use crate::stats::{Bootstrap, CONFIDENCE, Interval, Sample, bootstrap, median, trimmed_mean};
use crate::trial::{Better, Figure, Trial};
use fastrand::Rng;
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
}

/// The median, the lowest and the highest of some values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// What they are: `elapsed`.
    pub name: String,
    /// What they are counted in.
    pub unit: String,
    /// Which way is faster.
    pub better: Better,
    /// Their mean, without the fifth at either end.
    pub mean: f64,
    /// Where the true mean lies with a confidence of 95 %; missing with fewer than five.
    pub interval: Known<Interval>,
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
    /// Half the interval as a share of the mean.
    pub fn precision(&self) -> Option<f64> {
        let interval = self.interval.value()?;
        Some(interval.half_width() / self.mean.abs()).filter(|it| it.is_finite())
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
    })
}

/// The same trials always give the same interval.
const SEED: u64 = 1;
const DRAWS: u32 = 2000;

fn spread(shape: Figure<&str>, values: Vec<f64>) -> Option<Spread> {
    let sample = Sample::new(values).ok()?;
    let wanted = Bootstrap { draws: DRAWS, confidence: CONFIDENCE };
    let interval = bootstrap(&sample, wanted, &mut Rng::with_seed(SEED));
    Some(Spread {
        name: shape.name.to_owned(),
        unit: shape.unit.to_owned(),
        better: shape.better,
        mean: trimmed_mean(&sample),
        interval: match interval {
            Ok(interval) => Known::Value(interval),
            Err(unfit) => Known::missing(unfit.to_string()),
        },
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
    fn an_arm_is_its_mean_its_interval_and_its_clock() {
        let record = moment(1.0, 2.5e9, 0.003);
        let found = summary(&record, 0).unwrap();
        let main = &found.figures[0];
        assert!((main.mean - 1.0).abs() < 0.003, "{main:?}");
        assert!(main.lowest <= main.median && main.median <= main.highest);
        assert!(main.interval.value().unwrap().contains(main.mean));
        assert!(main.precision().unwrap() < 0.003);
        assert!((found.clock.value().unwrap().mean / 2.5e9 - 1.0).abs() < 1e-3);
        assert!((found.cycles.value().unwrap().mean / 2.5e9 - 1.0).abs() < 0.003);
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
}
