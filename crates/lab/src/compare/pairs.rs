//! The intervals that two nodes of a race have in common, and the marks in them.

use crate::race::{NOTICE, QUOTA_NOTICE, slice};
use crate::record::Record;
use crate::stats::Counts;
use crate::trial::{Mark, Slice, Trial};
use std::iter::Peekable;
use std::ops::Range;
use std::time::Duration;

/// A mark that cut a race.
#[derive(Clone, Debug, PartialEq)]
pub struct Marked {
    /// When it was noticed, in seconds since the race began.
    pub at_s: f64,
    /// The intervals in one of which it happened.
    pub intervals: Range<usize>,
    /// Which of the two nodes it is about.
    pub concerns: Concerns,
    /// What changed.
    pub mark: Mark,
}

/// Which of two nodes a change is about. Where it is about one, the other is its control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concerns {
    /// The first alone.
    A,
    /// The second alone.
    B,
    /// Both: there is no control.
    Both,
}

impl Concerns {
    pub(super) fn of(a: bool, b: bool) -> Option<Concerns> {
        match (a, b) {
            (true, true) => Some(Concerns::Both),
            (true, false) => Some(Concerns::A),
            (false, true) => Some(Concerns::B),
            (false, false) => None,
        }
    }

    pub(super) fn and(self, other: Concerns) -> Concerns {
        if self == other { self } else { Concerns::Both }
    }
}

/// How long before it was noticed a change of conditions may have happened, but for the interval at whose end it was looked for; `None`
/// of what changes none: a note, a finding.
fn noticed_within(mark: &Mark) -> Option<Duration> {
    match mark {
        Mark::Setting { .. } => Some(NOTICE),
        Mark::Quota { .. } => Some(QUOTA_NOTICE),
        Mark::Restarted => Some(Duration::ZERO),
        Mark::Finding { .. } | Mark::Note { .. } => None,
    }
}

/// The intervals of two nodes that cover the same time, by their own clocks within half an interval of each other.
#[derive(Default)]
pub(super) struct Pairs {
    pub(super) counts: Vec<Counts>,
    began_s: Vec<f64>,
    ended_s: Vec<f64>,
}

/// An interval of one node.
#[derive(Clone, Copy)]
struct Interval {
    began_s: f64,
    seconds: f64,
    count: u64,
}

impl Interval {
    fn ended_s(&self) -> f64 {
        self.began_s + self.seconds
    }
}

impl Pairs {
    /// Those of one leg, or of all.
    ///
    /// A node that stands still counts nothing, and its interval lasts until it does: it is paired with all intervals that the
    /// other node had meanwhile, and what it counted is spread over them. Time that a node has no interval of is of neither.
    pub(super) fn of(record: &Record, (a, b): (usize, usize), leg: Option<u32>) -> Pairs {
        let (mut of_a, mut of_b) =
            (intervals(record, a, leg).peekable(), intervals(record, b, leg).peekable());
        let mut pairs = Pairs::default();
        while let (Some(first), Some(second)) = (of_a.peek().copied(), of_b.peek().copied()) {
            let half = first.seconds.min(second.seconds) / 2.0;
            if second.began_s < first.began_s - half {
                of_b.next();
            } else if second.began_s > first.began_s + half {
                of_a.next();
            } else if let Some([of_a, of_b]) = covering(&mut of_a, &mut of_b, half) {
                pairs.put(&of_a, &of_b);
            }
        }
        pairs
    }

    fn put(&mut self, a: &[Interval], b: &[Interval]) {
        let finer = if a.len() < b.len() { b } else { a };
        let (of_a, of_b) = (spread(a, finer.len()), spread(b, finer.len()));
        for ((it, a), b) in finer.iter().zip(of_a).zip(of_b) {
            self.counts.push(Counts { a, b });
            self.began_s.push(it.began_s);
            self.ended_s.push(it.ended_s());
        }
    }

    /// When each began, and when the last one ended.
    pub(super) fn times_s(self) -> Vec<f64> {
        let mut times = self.began_s;
        times.extend(self.ended_s.last());
        times
    }

    /// The marks of this trial that changed conditions of one of the nodes while both raced.
    pub(super) fn marks_of(
        &self,
        record: &Record,
        nodes: (usize, usize),
        trial: &Trial,
    ) -> Vec<Marked> {
        let marks = trial.marks.iter();
        marks.filter_map(|it| self.marked(record, nodes, trial, it)).collect()
    }

    fn marked(
        &self,
        record: &Record,
        (a, b): (usize, usize),
        trial: &Trial,
        mark: &Mark,
    ) -> Option<Marked> {
        let within_s = noticed_within(mark)?.as_secs_f64();
        let concerned = record.concerned(trial.arm, mark);
        let concerns = Concerns::of(concerned.contains(&a), concerned.contains(&b))?;
        let (at_s, length_s) = (ended_s(trial), length_s(trial));
        // Clocks differ, and whoever looks does so a moment after an interval has ended.
        let slack_s = length_s / 4.0;
        let start = self.ended_s.partition_point(|it| *it <= at_s - within_s - length_s + slack_s);
        let end = self.began_s.partition_point(|it| *it < at_s - slack_s);
        // Where no interval of both holds it, the next one is the first under other conditions.
        let intervals = start..end.max(start + 1);
        let is_within = intervals.end <= self.counts.len();
        is_within.then(|| Marked { at_s, intervals, concerns, mark: mark.clone() })
    }
}

/// The next intervals of two nodes that end together; `None` where one of them has a gap before they do.
fn covering<I: Iterator<Item = Interval>>(
    a: &mut Peekable<I>,
    b: &mut Peekable<I>,
    half: f64,
) -> Option<[Vec<Interval>; 2]> {
    let mut found = [vec![a.next()?], vec![b.next()?]];
    loop {
        let [ended_a, ended_b] = found.each_ref().map(|it| it.last().map(Interval::ended_s));
        let (ended_a, ended_b) = (ended_a?, ended_b?);
        if (ended_a - ended_b).abs() <= half {
            return Some(found);
        }
        let is_a = ended_a < ended_b;
        let (more, ended_s) = if is_a { (&mut *a, ended_a) } else { (&mut *b, ended_b) };
        let next = more.next_if(|it| (it.began_s - ended_s).abs() <= half)?;
        found[usize::from(!is_a)].push(next);
    }
}

/// What was counted in each of so many intervals; where there are fewer, evenly over all.
fn spread(of: &[Interval], n: usize) -> Vec<u64> {
    if of.len() == n {
        return of.iter().map(|it| it.count).collect();
    }
    let (sum, n) = (of.iter().fold(0_u64, |sum, it| sum.saturating_add(it.count)), n as u64);
    (0..n).map(|at| sum / n + u64::from(at < sum % n)).collect()
}

/// The intervals of a node in their order; those that failed have none.
fn intervals(record: &Record, arm: usize, leg: Option<u32>) -> impl Iterator<Item = Interval> {
    let is_meant = move |it: &&Trial| it.arm == arm && leg.is_none_or(|leg| it.block == leg);
    let trials = record.trials.iter().filter(is_meant).filter(|it| it.failed.is_none());
    trials.filter_map(|it| Some((it, *it.began_ns.value()?))).flat_map(|(trial, began_ns)| {
        let is_whole = trial.slices.is_empty();
        let whole = if is_whole { slice(trial) } else { None };
        let slices = whole.into_iter().chain(trial.slices.iter().copied());
        slices.scan(began_ns, |at_ns, Slice { elapsed_ns, count }| {
            let began_ns = std::mem::replace(at_ns, at_ns.saturating_add(elapsed_ns));
            let [began_s, seconds] = [began_ns, elapsed_ns].map(|it| it as f64 / 1e9);
            Some(Interval { began_s, seconds, count })
        })
    })
}

fn length_s(trial: &Trial) -> f64 {
    trial.outcome.elapsed_ns.value().map_or(0.0, |ns| *ns as f64 / 1e9)
}

fn ended_s(trial: &Trial) -> f64 {
    trial.began_ns.value().map_or(0.0, |ns| *ns as f64 / 1e9) + length_s(trial)
}
