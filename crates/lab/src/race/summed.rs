//! A race of any length in a bounded number of trials: neighbouring intervals of a node are summed up to one.
//!
//! What is judged, commits of each interval, is kept of every interval, in 16 bytes. Ledgers, metrics and times of a commit are
//! kept as means of a trial's intervals: as text they take 15 KB.

use crate::known::Known;
use crate::server::ServerWork;
use crate::throttling::Throttling;
use crate::trial::{
    Figure, Outcome, PackedList, Reading, Share, Slice, Trial, TrialClock, TrialContext,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// The most trials of a node in a race that goes as planned; marks and failures make more.
const MOST_TRIALS: u128 = 1024;

/// Sums up the intervals of one node.
#[derive(Debug)]
pub struct Summing {
    per_trial: usize,
    open: Vec<Trial>,
}

impl Summing {
    /// For a race of this length: up to 1,024 intervals are trials of their own, and of more so many neighbours become one that it
    /// is 1,024 trials at most.
    pub fn of(length: Duration, interval: Duration) -> Summing {
        let n_intervals = length.as_nanos() / interval.as_nanos().max(1);
        let per_trial = n_intervals.div_ceil(MOST_TRIALS).max(1);
        Summing { per_trial: usize::try_from(per_trial).unwrap_or(usize::MAX), open: Vec::new() }
    }

    /// Takes the next interval; gives the trials that are complete with it. An interval that failed, or in which something was
    /// marked, stays a trial of its own.
    pub fn push(&mut self, interval: Trial) -> Vec<Trial> {
        let is_alone = interval.failed.is_some() || !interval.marks.is_empty();
        let goes_on = self.open.last().is_none_or(|it| is_next(it, &interval));
        let mut complete = Vec::new();
        if is_alone || !goes_on {
            complete.extend(self.finish());
        }
        self.open.push(interval);
        if is_alone || self.open.len() >= self.per_trial {
            complete.extend(self.finish());
        }
        complete
    }

    /// The trial of the intervals that wait for more.
    pub fn finish(&mut self) -> Option<Trial> {
        let open = std::mem::take(&mut self.open);
        if self.per_trial == 1 {
            return open.into_iter().next();
        }
        sum(open)
    }
}

/// Whether one interval of a node begins where the other one ends, in the same block. A server reports its counts a little before or
/// after an interval ends.
fn is_next(before: &Trial, after: &Trial) -> bool {
    let (Some(before_ns), Some(after_ns)) = (before.began_ns.value(), after.began_ns.value())
    else {
        return false;
    };
    let ended_ns = before_ns.saturating_add(elapsed_ns(before));
    before.block == after.block && ended_ns.abs_diff(*after_ns) <= elapsed_ns(before) / 2
}

/// Several intervals of a node as one trial, numbered as the first of them.
fn sum(intervals: Vec<Trial>) -> Option<Trial> {
    let all = Weighted::of(&intervals);
    let figures = figures(&all);
    let (clock, surroundings) = (clock(&all), surroundings(&intervals));
    let total = |of: fn(&Outcome) -> &Known<u64>| {
        let each = intervals.iter().map(|it| of(&it.outcome));
        each.cloned().reduce(|sum, it| match (sum, it) {
            (Known::Value(sum), Known::Value(more)) => Known::Value(sum.saturating_add(more)),
            (Known::Value(_), missing) | (missing, _) => missing,
        })
    };
    let (elapsed_ns, cpu_ns) = total(|it| &it.elapsed_ns).zip(total(|it| &it.cpu_ns))?;
    let slices =
        if intervals.len() > 1 { intervals.iter().filter_map(slice).collect() } else { Vec::new() };
    let server = ServerWork::sum_of(intervals.iter().filter_map(|it| it.server.as_ref()));
    let throttling = Throttling::of_all(intervals.iter().filter_map(|it| it.throttling.as_ref()));
    let first = intervals.into_iter().next()?;
    let outcome = Outcome { elapsed_ns, cpu_ns, figures, ..first.outcome };
    Some(Trial { outcome, slices, throttling, server, clock, surroundings, ..first })
}

/// The length of an interval and what was counted in it: its rate times the time; `None` of one without a rate.
pub(crate) fn slice(interval: &Trial) -> Option<Slice> {
    let rate = interval.outcome.figures.first()?.value;
    let elapsed_ns = *interval.outcome.elapsed_ns.value()?;
    let count = (rate * elapsed_ns as f64 / 1e9).round() as u64;
    (rate >= 0.0 && rate.is_finite()).then_some(Slice { elapsed_ns, count })
}

fn elapsed_ns(trial: &Trial) -> u64 {
    trial.outcome.elapsed_ns.value().copied().unwrap_or_default()
}

/// Intervals with what their means are weighted by.
struct Weighted<'a> {
    intervals: &'a [Trial],
    seconds: Vec<f64>,
    commits: Vec<f64>,
    writes: Vec<f64>,
}

impl<'a> Weighted<'a> {
    fn of(intervals: &'a [Trial]) -> Weighted<'a> {
        let seconds: Vec<f64> = intervals.iter().map(|it| elapsed_ns(it) as f64 / 1e9).collect();
        let counts = |name: &str| {
            let rate = |it: &Trial| {
                it.outcome.figures.iter().find(|it| it.name == name).map(|it| it.value)
            };
            intervals.iter().zip(&seconds).map(|(it, s)| rate(it).unwrap_or_default() * s).collect()
        };
        let (commits, writes) = (counts("commits"), counts("log writes"));
        Weighted { intervals, seconds, commits, writes }
    }

    /// What the mean of that figure is weighted by: a rate by time, a time by how often it was taken.
    fn weights(&self, name: &str, unit: &str) -> &[f64] {
        match (name, unit) {
            (_, "us") if name.starts_with("log write,") || name == "log write" => &self.writes,
            (_, "us") => &self.commits,
            _ => &self.seconds,
        }
    }
}

/// The figures of the first interval as means of all. A quantile of several intervals is not known from theirs, and left out.
fn figures(all: &Weighted<'_>) -> PackedList<Figure> {
    let first = all.intervals.first().map(|it| &it.outcome.figures);
    let is_quantile = |name: &str| name.ends_with(", median") || name.ends_with(", p99");
    let named = first.into_iter().flatten().filter(|it| !is_quantile(it.name));
    let mean = |it: Figure<&str>| {
        let mut mean = Mean::default();
        for (interval, weight) in all.intervals.iter().zip(all.weights(it.name, it.unit)) {
            let own = interval.outcome.figures.iter().find(|own| own.name == it.name);
            own.into_iter().for_each(|own| mean.add(own.value, *weight));
        }
        let value = mean.value().unwrap_or(it.value);
        Figure { name: it.name.to_owned(), unit: it.unit.to_owned(), value, better: it.better }
    };
    named.map(mean).collect()
}

fn clock(all: &Weighted<'_>) -> Known<TrialClock> {
    let [mut before, mut after] = [Mean::default(), Mean::default()];
    for (interval, seconds) in all.intervals.iter().zip(&all.seconds) {
        if let Some(clock) = interval.clock.value() {
            before.add(clock.before_hz, *seconds);
            after.add(clock.after_hz, *seconds);
        }
    }
    match before.value().zip(after.value()) {
        Some((before_hz, after_hz)) => Known::Value(TrialClock { before_hz, after_hz }),
        None => all
            .intervals
            .first()
            .map_or_else(|| Known::missing("no interval"), |it| it.clock.clone()),
    }
}

fn surroundings(intervals: &[Trial]) -> Known<TrialContext> {
    let known: Vec<&TrialContext> =
        intervals.iter().filter_map(|it| it.surroundings.value()).collect();
    let Some(first) = known.first() else {
        let first = intervals.first().map(|it| it.surroundings.clone());
        return first.unwrap_or_else(|| Known::missing("no interval"));
    };
    let window_ns = known.iter().fold(0, |sum: u64, it| sum.saturating_add(it.window_ns));
    let (mut ledger, mut metrics, mut unexplained) =
        (Means::default(), Means::default(), Mean::default());
    for around in &known {
        let weight = around.window_ns as f64;
        unexplained.add(around.unexplained, weight);
        around.ledger.iter().for_each(|it| ledger.add(it.loss, it.part, &it.share, weight));
        around.metrics.iter().for_each(|it| metrics.add(it.metric, it.part, &it.value, weight));
    }
    // A part that an interval does not name took nothing in it.
    let shares = ledger.finish(Some(window_ns as f64));
    let readings = metrics.finish(None);
    Known::Value(TrialContext {
        cpus: first.cpus.clone(),
        window_ns,
        ledger: shares.map(|(loss, part, share)| Share { loss, part, share }).collect(),
        unexplained: unexplained.value().unwrap_or_default(),
        metrics: readings.map(|(metric, part, value)| Reading { metric, part, value }).collect(),
    })
}

/// A weighted mean that grows.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    weight: f64,
}

impl Mean {
    fn add(&mut self, value: f64, weight: f64) {
        self.sum += value * weight;
        self.weight += weight;
    }

    fn value(self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

/// Means of named numbers, in the order in which they came first.
#[derive(Default)]
struct Means {
    places: BTreeMap<(String, String), usize>,
    means: Vec<(Mean, Option<String>)>,
}

impl Means {
    fn add(&mut self, name: &str, part: &str, value: &Known<f64>, weight: f64) {
        let n = self.means.len();
        let place = *self.places.entry((name.to_owned(), part.to_owned())).or_insert(n);
        if place == n {
            self.means.push((Mean::default(), None));
        }
        let (mean, why) = &mut self.means[place];
        match value {
            Known::Value(value) => mean.add(*value, weight),
            Known::Missing { missing } => drop(why.get_or_insert_with(|| missing.clone())),
        }
    }

    /// The means over `weight`, or over the weight of those that have the number; missing where none has it.
    fn finish(self, weight: Option<f64>) -> impl Iterator<Item = (String, String, Known<f64>)> {
        let mut names: Vec<((String, String), usize)> = self.places.into_iter().collect();
        names.sort_by_key(|it| it.1);
        names.into_iter().zip(self.means).map(move |(((name, part), _), (mean, why))| {
            let value = match (why, mean.value()) {
                (Some(why), None) => Known::missing(why),
                // Where it is missing in some, the others speak for all.
                (Some(_), Some(value)) => Known::Value(value),
                (None, _) => {
                    let weight = weight.unwrap_or(mean.weight);
                    Known::Value(Mean { weight, ..mean }.value().unwrap_or_default())
                }
            };
            (name, part, value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;
    use crate::trial::{Better, Mark};

    const SECOND: Duration = Duration::from_secs(1);

    /// The interval of that second, with so many commits, a log write for each tenth of them, and a worker in odd seconds.
    fn interval(at: u64, commits: f64) -> Trial {
        let figure = |name: &str, unit: &str, value| Figure {
            name: name.to_owned(),
            unit: unit.to_owned(),
            value,
            better: Better::Higher,
        };
        let share = |loss: &str, part: &str, share| Share {
            loss: loss.to_owned(),
            part: part.to_owned(),
            share,
        };
        let mut ledger = vec![
            share("slow-clock", "", Known::missing("no counter")),
            share("idle", "", Known::Value(0.5)),
        ];
        if at % 2 == 1 {
            ledger.push(share("kernel-threads", "kworker", Known::Value(0.02)));
        }
        let figures = vec![
            figure("commits", "1/s", commits),
            figure("log writes", "1/s", commits / 10.0),
            figure("log write, p99", "us", 900.0),
            figure("commit", "us", 1e6 / commits),
        ];
        let trial = Trial::of_one_task(0, 1, 1.0);
        Trial {
            began_ns: Known::Value(at * 1_000_000_000),
            outcome: Outcome { figures: figures.into(), ..trial.outcome.clone() },
            surroundings: Known::Value(TrialContext {
                window_ns: 1_000_000_000,
                ledger: ledger.into(),
                ..TrialContext::default()
            }),
            ..trial
        }
    }

    fn summed(intervals: impl IntoIterator<Item = Trial>, per_trial: usize) -> Vec<Trial> {
        let mut summing = Summing { per_trial, open: Vec::new() };
        let mut trials: Vec<Trial> =
            intervals.into_iter().flat_map(|it| summing.push(it)).collect();
        trials.extend(summing.finish());
        trials
    }

    #[test]
    fn a_minute_is_kept_as_it_is_and_a_day_in_a_thousand_trials() {
        assert_eq!(Summing::of(60 * SECOND, SECOND).per_trial, 1);
        assert_eq!(Summing::of(1024 * SECOND, SECOND).per_trial, 1);
        assert_eq!(Summing::of(86_400 * SECOND, SECOND).per_trial, 85);
        let minute: Vec<Trial> = (0..60).map(|at| interval(at, 1000.0)).collect();
        assert_eq!(summed(minute.clone(), 1), minute);
    }

    #[test]
    fn commits_of_each_interval_are_kept_and_of_the_rest_the_mean() {
        let trials = summed((0..5).map(|at| interval(at, 1000.0 + 1000.0 * at as f64)), 4);
        assert_eq!(trials.iter().map(|it| it.slices.len()).collect::<Vec<_>>(), [4, 0]);
        let counts: Vec<u64> = trials[0].slices.iter().map(|it| it.count).collect();
        assert_eq!(counts, [1000, 2000, 3000, 4000]);
        let figures: Vec<(String, f64)> =
            trials[0].outcome.figures.iter().map(|it| (it.name.to_owned(), it.value)).collect();
        // All commits took 4 s together: each of the 10,000 took 400 us.
        let expected = [("commits", 2500.0), ("log writes", 250.0), ("commit", 400.0)];
        assert_eq!(figures, expected.map(|(name, value)| (name.to_owned(), value)));
        assert_eq!(trials[0].outcome.elapsed_ns, Known::Value(4_000_000_000));
        assert_eq!(slice(&trials[0]).unwrap().count, 10_000);
        let around = trials[0].surroundings.value().unwrap();
        let ledger: Vec<Option<f64>> =
            around.ledger.iter().map(|it| it.share.value().copied()).collect();
        assert_eq!((around.window_ns, ledger), (4_000_000_000, vec![None, Some(0.5), Some(0.01)]));
    }

    #[test]
    fn what_was_marked_failed_or_came_after_a_gap_is_not_summed_up() {
        let marked = Trial { marks: vec![Mark::Restarted], ..interval(3, 1000.0) };
        let failed = Trial::failed(0, 1, Known::Value(5_000_000_000), &Failure::Stopped);
        let intervals = [0, 1, 2].map(|at| interval(at, 1000.0)).into_iter().chain([
            marked,
            interval(4, 1000.0),
            failed,
            interval(6, 1000.0),
            interval(9, 1000.0),
        ]);
        let trials = summed(intervals, 10);
        let shape: Vec<(u64, usize)> = trials
            .iter()
            .map(|it| (it.began_ns.value().unwrap() / 1_000_000_000, it.slices.len()))
            .collect();
        assert_eq!(shape, [(0, 3), (3, 0), (4, 0), (5, 0), (6, 0), (9, 0)]);
    }
}
