//! A sweep of `kipmid_max_busy_us`: how long a controller's answers take under each limit, how much CPU time waiting for them
//! takes, and the knee of that trade-off.
//!
//! What waiting costs is the CPU time for the same answers, one device id and one sensor record, and not the share of a CPU: who
//! lets them take longer lowers that share without sparing anything. Where the sweep was run under several loads, a limit's
//! costs are the geometric means over them.

use super::{Experiment, Factor};
use crate::known::Known;
use crate::record::Record;
use crate::stats::{Interval, Sample, mean, median, winsorised_contrasts};
use crate::trial::{FigureShape, Trial};
use crate::verdict::confidence;
use crate::workloads::{BOTH, DEVICE_ID, POLLED, RECORD, SHARE};
use serde::Serialize;

/// What a sweep says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tuning {
    /// In the order of the sweep.
    pub limits: Vec<Tuned>,
    /// Places of the limits that no other one beats in both costs, the fastest answers first; empty where a limit has none.
    pub front: Vec<usize>,
    /// The place of the one where the trade turns. `None` where the front bends nowhere, or is too short to.
    pub knee: Option<usize>,
}

/// What one limit comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tuned {
    /// As the sweep has it: microseconds, 0 being none, or `as-found`.
    pub limit: String,
    /// Under each load, in the order of the sweep.
    pub conditions: Vec<Condition>,
    /// How much longer the answers take than under the first limit, as a share; missing for that one, and of too few blocks.
    pub slower: Known<Change>,
    /// How much more CPU time waiting for them takes.
    pub polled: Known<Change>,
}

/// What one limit comes to under one load; the middle of its trials.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Condition {
    /// What the other CPUs did: `idle`, `all-cores`.
    pub load: String,
    /// Trials that did not fail.
    pub trials: u32,
    /// How long one device id and one record take together, in milliseconds.
    pub both_ms: Option<f64>,
    /// The middle round trip for a device id.
    pub device_id_ms: Option<f64>,
    /// The middle round trip for a record.
    pub record_ms: Option<f64>,
    /// The CPU time of the thread, in percent of a CPU.
    pub share_percent: Option<f64>,
    /// What it took for both.
    pub polled_ms: Option<f64>,
}

/// A difference of means over blocks, of logarithms, with its interval: those of both costs of all limits hold together with 99 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// As a share: 0.1 is a tenth more.
    pub change: f64,
    /// Where the true one lies.
    pub interval: Interval,
}

/// Blocks without which nothing is said of a limit.
const LEAST: usize = 5;

impl Change {
    /// Whether there is one beyond doubt.
    pub fn is_there(&self) -> bool {
        self.interval.low > 0.0 || self.interval.high < 0.0
    }
}

impl Tuning {
    /// The setting that is swept.
    pub const SETTING: &str = "kipmid-max-busy";

    /// What may be varied with it.
    pub const LOAD: &str = "load";

    /// What a study says of limits; `None` where it varies none.
    pub fn of(record: &Record) -> Option<Tuning> {
        let experiment = record.experiment.as_ref()?;
        let factors = &experiment.design.factors;
        let limit = factors.iter().position(|it| it.name == Tuning::SETTING)?;
        let load = factors.iter().position(|it| it.name == Tuning::LOAD);
        let sweep = Sweep { record, experiment, limit, load };
        let limits: Vec<Tuned> =
            (0..factors.get(limit)?.levels.len()).filter_map(|level| sweep.tuned(level)).collect();
        let points: Option<Vec<(f64, f64)>> =
            (0..limits.len()).map(|at| costs(&limits, at)).collect();
        let points = points.unwrap_or_default();
        Some(Tuning { front: front(&points), knee: knee(&points), limits })
    }

    /// How long both answers take under the limit in that place and what waiting for them takes of a CPU, in milliseconds over all
    /// loads: what the first limit has, times what the means over blocks differ by. `None` where one of them is unknown.
    pub fn costs(&self, at: usize) -> Option<(f64, f64)> {
        costs(&self.limits, at)
    }

    /// The first limit of which a cost is unknown, without which there is no front, and why it is.
    pub fn incomplete(&self) -> Option<(&str, &str)> {
        let at = (0..self.limits.len()).find(|at| self.costs(*at).is_none())?;
        let tuned = self.limits.get(at)?;
        let why = tuned.slower.reason().or(tuned.polled.reason()).filter(|_| at > 0);
        Some((&tuned.limit, why.unwrap_or(UNANSWERED)))
    }

    /// The recommended limit: the knee, where it saves CPU time beyond doubt.
    pub fn advised(&self) -> Option<&str> {
        let knee = self.limits.get(self.knee?)?;
        let spares = |it: &Change| it.is_there() && it.change < 0.0;
        knee.polled.value().is_some_and(spares).then_some(&*knee.limit)
    }
}

/// Why the first limit has no costs.
const UNANSWERED: &str = "no trial was answered, or none shows what kipmi0 took of a CPU";

fn costs(limits: &[Tuned], at: usize) -> Option<(f64, f64)> {
    let (both, polled) = limits.first()?.middle()?;
    if at == 0 {
        return Some((both, polled));
    }
    let tuned = limits.get(at)?;
    let times = |it: &Known<Change>| it.value().map(|it| 1.0 + it.change);
    Some((both * times(&tuned.slower)?, polled * times(&tuned.polled)?))
}

impl Tuned {
    /// The medians of both costs, in milliseconds, over all loads; `None` where a load has no such figure.
    fn middle(&self) -> Option<(f64, f64)> {
        let of = |what: fn(&Condition) -> Option<f64>| {
            let logs: Option<Vec<f64>> = self
                .conditions
                .iter()
                .map(|it| what(it).filter(|it| *it > 0.0).map(f64::ln))
                .collect();
            let logs = logs.filter(|it| !it.is_empty())?;
            Some((logs.iter().sum::<f64>() / logs.len() as f64).exp())
        };
        Some((of(|it| it.both_ms)?, of(|it| it.polled_ms)?))
    }
}

struct Sweep<'a> {
    record: &'a Record,
    experiment: &'a Experiment,
    /// The places of the factors.
    limit: usize,
    load: Option<usize>,
}

impl Sweep<'_> {
    fn tuned(&self, level: usize) -> Option<Tuned> {
        let factors = &self.experiment.design.factors;
        let idle = [Factor::IDLE.to_owned()];
        let loads = self.load.map_or(&idle[..], |it| &factors[it].levels);
        let condition = |(at, name): (usize, &String)| {
            let trials: Vec<&Trial> = self.trials(level, Some(at)).collect();
            let middle = |shape: FigureShape| {
                let values: Vec<f64> = trials.iter().filter_map(|it| figure(it, shape)).collect();
                Sample::new(values).ok().map(|it| median(&it))
            };
            Condition {
                load: name.clone(),
                trials: u32::try_from(trials.len()).unwrap_or(u32::MAX),
                both_ms: middle(BOTH),
                device_id_ms: middle(DEVICE_ID[0]),
                record_ms: middle(RECORD[0]),
                share_percent: middle(SHARE),
                polled_ms: middle(POLLED),
            }
        };
        Some(Tuned {
            limit: factors.get(self.limit)?.levels.get(level)?.clone(),
            conditions: loads.iter().enumerate().map(condition).collect(),
            slower: self.change(level, BOTH),
            polled: self.change(level, POLLED),
        })
    }

    /// Of one limit, under one load or all, without those that failed.
    fn trials(&self, level: usize, load: Option<usize>) -> impl Iterator<Item = &Trial> {
        self.record.trials.iter().filter(move |trial| {
            let levels = self.experiment.arms.get(trial.arm).map(|it| &it.levels);
            let at = |factor: usize| levels.and_then(|it| it.get(factor)).copied();
            let is_load = self.load.zip(load).is_none_or(|(factor, load)| at(factor) == Some(load));
            trial.failed.is_none() && at(self.limit) == Some(level) && is_load
        })
    }

    /// Against the first limit, block by block: there both met the same machine.
    fn change(&self, level: usize, shape: FigureShape) -> Known<Change> {
        if level == 0 {
            return Known::missing("the others are compared with it");
        }
        let n_blocks = self.record.trials.iter().map(|it| it.block + 1).max().unwrap_or_default();
        let n_loads = self.load.map_or(1, |it| self.experiment.design.factors[it].levels.len());
        // Load by load: a block that lacks one of them, or in which its trials failed, would compare one load with another.
        let of_load = |block: u32, load: usize| {
            let logs = |level: usize| {
                let trials = self.trials(level, Some(load)).filter(|it| it.block == block);
                let values: Option<Vec<f64>> = trials
                    .map(|it| figure(it, shape).filter(|it| *it > 0.0).map(f64::ln))
                    .collect();
                values
                    .filter(|it| !it.is_empty())
                    .map(|it| it.iter().sum::<f64>() / it.len() as f64)
            };
            Some(logs(level)? - logs(0)?)
        };
        let of = |block: u32| {
            let sum: Option<f64> = (0..n_loads).map(|load| of_load(block, load)).sum();
            sum.map(|it| it / n_loads as f64)
        };
        let differences = Sample::new((0..n_blocks).filter_map(of).collect());
        // Both costs of every limit but the first.
        let n_others = self.experiment.design.factors[self.limit].levels.len().saturating_sub(1);
        let confidence = confidence(2 * n_others);
        match differences.and_then(|it| mean(&winsorised_contrasts(&it), confidence, LEAST)) {
            Ok(mean) => {
                let share = |it: f64| it.exp_m1();
                let Interval { low, high } = mean.interval;
                let interval = Interval { low: share(low), high: share(high) };
                Known::Value(Change { change: share(mean.mean), interval })
            }
            Err(why) => Known::missing(why.to_string()),
        }
    }
}

fn figure(trial: &Trial, shape: FigureShape) -> Option<f64> {
    trial.outcome.figures.iter().find(|it| it.name == shape.name).map(|it| it.value)
}

/// The place of the knee among points of two positive costs; `None` where no point lies below the line.
///
/// Satopaa, Albrecht, Irwin and Raghavan, "Finding a 'Kneedle' in a Haystack: Detecting Knee Points in System Behavior", ICDCS
/// Workshops 2011: the point of the curve that lies farthest below the straight line between its ends, both axes scaled to
/// that line. Here the curve is the points that no other one beats in both costs, and the axes are logarithms: a cost that
/// doubles weighs alike wherever it begins.
fn knee(points: &[(f64, f64)]) -> Option<usize> {
    let front = front(points);
    let (first, last) = (points[*front.first()?], points[*front.last()?]);
    let (width, height) = ((last.0 / first.0).ln(), (first.1 / last.1).ln());
    // Scaled, the line goes from (0, 1) to (1, 0); the distance from it is this by the square root of 2.
    let below = |at: usize| {
        let (x, y) = points[at];
        1.0 - (x / first.0).ln() / width - (y / last.1).ln() / height
    };
    let inner = front.get(1..front.len().checked_sub(1)?)?;
    let farthest = inner.iter().copied().max_by(|a, b| below(*a).total_cmp(&below(*b)))?;
    (below(farthest) > 0.0).then_some(farthest)
}

/// The points that no other point beats in both costs, by the first cost.
pub(super) fn front(points: &[(f64, f64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (points[*a], points[*b]);
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let mut lowest = f64::INFINITY;
    order.retain(|at| {
        let is_lower = points[*at].1 < lowest;
        lowest = lowest.min(points[*at].1);
        is_lower
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Combination, Design};
    use crate::record::Arm;
    use crate::trial::Figure;

    /// Five blocks of a trial of each limit and load; costs in ms by limit, with some noise and twice as much under load.
    fn record(costs: &[(&str, f64, f64)]) -> Record {
        let limits = costs.iter().map(|it| it.0.to_owned()).collect();
        let loads = [Factor::IDLE, Factor::ALL_CORES].map(str::to_owned).to_vec();
        let factors = vec![
            Factor { name: Tuning::SETTING.to_owned(), levels: limits },
            Factor { name: Tuning::LOAD.to_owned(), levels: loads },
        ];
        let arms: Vec<Combination> = (0..costs.len() * 2)
            .map(|it| Combination { workload: 0, levels: vec![it / 2, it % 2] })
            .collect();
        let n_arms = arms.len();
        let design = Design { factors, ..Design::default() };
        let mut record = Record::of(vec![Arm::of("", "ipmi-roundtrip"); n_arms]);
        record.experiment = Some(Experiment::of(design, arms, 1));
        for (block, arm) in (0..5).flat_map(|block| (0..n_arms).map(move |arm| (block, arm))) {
            let (_, both, polled) = costs[arm / 2];
            let noise = 1.0 + f64::from(block) * 0.01 + (arm % 2) as f64;
            let mut trial = Trial::of_one_task(arm, block, 1.0);
            trial.outcome.figures = [(BOTH, both), (POLLED, polled)]
                .map(|(shape, value)| Figure::of(shape, value * noise))
                .into_iter()
                .collect();
            record.trials.push(trial);
        }
        record
    }

    #[test]
    fn the_knee_is_where_cpu_time_ends_to_be_worth_the_wait() {
        let costs = [
            ("0", 10.0, 5.0),
            ("1000", 10.5, 4.9),
            ("500", 11.0, 1.0),
            ("100", 40.0, 0.9),
            ("50", 45.0, 1.5),
        ];
        let tuning = Tuning::of(&record(&costs)).unwrap();
        assert_eq!((&tuning.front[..], tuning.knee), (&[0, 1, 2, 3][..], Some(2)));
        let knee = &tuning.limits[2];
        assert_eq!(knee.limit, "500");
        let middle: Vec<Option<f64>> = knee.conditions.iter().map(|it| it.both_ms).collect();
        assert_eq!(middle, [Some(11.0 * 1.02), Some(11.0 * 2.02)]);
        let polled = knee.polled.value().unwrap();
        assert!((polled.change + 0.8).abs() < 1e-9 && polled.is_there(), "{polled:?}");
        assert_eq!(tuning.advised(), Some("500"));
        assert!(tuning.limits[0].slower.value().is_none());
    }

    #[test]
    fn what_a_limit_does_is_doubted_where_blocks_differ_more() {
        let mut record = record(&[("0", 10.0, 5.0), ("500", 10.0, 5.0)]);
        for (trial, by) in
            record.trials.iter_mut().filter(|it| it.arm > 1).zip([0.5, 2.0, 1.0, 2.0, 0.5])
        {
            trial.outcome.figures.edit(|it| it.iter_mut().for_each(|it| it.value *= by));
        }
        let tuning = Tuning::of(&record).unwrap();
        assert!(!tuning.limits[1].polled.value().unwrap().is_there());
    }

    #[test]
    fn a_block_in_which_a_load_failed_compares_no_load_with_another() {
        let mut record = record(&[("0", 10.0, 5.0), ("500", 10.0, 5.0), ("100", 10.0, 5.0)]);
        // Under load everything takes twice as long.
        let failed = record.trials.iter_mut().filter(|it| it.arm == 3 && it.block == 0);
        failed.for_each(|it| it.failed = Some("no answer".to_owned()));
        let tuning = Tuning::of(&record).unwrap();
        assert!(tuning.limits[1].slower.value().is_none(), "four blocks are left");
        assert!(tuning.limits[2].slower.value().unwrap().change.abs() < 1e-9);
    }

    #[test]
    fn trials_without_cpu_time_have_no_front() {
        let mut record = record(&[("0", 10.0, 5.0), ("500", 11.0, 1.0), ("100", 40.0, 0.9)]);
        record.trials.iter_mut().for_each(|it| it.outcome.figures.edit(|it| it.truncate(1)));
        let tuning = Tuning::of(&record).unwrap();
        assert_eq!(
            (&tuning.front[..], tuning.knee, tuning.incomplete()),
            (&[][..], None, Some(("0", UNANSWERED)))
        );
        assert!(tuning.limits[1].polled.value().is_none());
    }

    #[test]
    fn a_study_of_something_else_is_none() {
        let mut record = record(&[("0", 10.0, 5.0)]);
        record.experiment.as_mut().unwrap().design.factors[0].name = "governor".to_owned();
        assert_eq!(Tuning::of(&record), None);
    }

    #[test]
    fn the_knee_is_the_corner_of_the_front() {
        let points = [(1.0, 100.0), (1.2, 10.0), (10.0, 9.0), (11.0, 50.0), (100.0, 8.0)];
        assert_eq!(knee(&points), Some(1));
    }

    /// Elapsed seconds and busy percent, of a published study of kipmid_max_busy_us: default, force_kipmid=0, 5000 to 10 us.
    #[test]
    fn the_published_knee_rests_on_an_outlier() {
        let elapsed = [22.0, 621.0, 21.0, 22.0, 27.0, 24.0, 42.0, 68.0, 101.0, 163.0, 213.0];
        let busy = [103.15, 12.7, 100.16, 94.04, 26.89, 69.44, 46.72, 17.87, 22.91, 19.98, 13.19];
        let mut points: Vec<(f64, f64)> = elapsed.into_iter().zip(busy).collect();
        assert_eq!(knee(&points), Some(4), "1000 us");
        points.remove(4);
        assert_eq!(knee(&points), Some(6), "100 us");
    }

    #[test]
    fn what_bends_nowhere_has_no_knee() {
        assert_eq!(knee(&[(1.0, 100.0), (100.0, 1.0)]), None);
        assert_eq!(knee(&[(1.0, 100.0), (90.0, 90.0), (100.0, 1.0)]), None);
        assert_eq!(knee(&[(1.0, 1.0)]), None);
        assert_eq!(knee(&[]), None);
    }
}
