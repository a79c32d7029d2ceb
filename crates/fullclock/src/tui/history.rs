//! What the values were in the intervals before: enough for a sparkline of any cell, in bounded memory.

use super::slices::{Slice, slices};
use facts::{CpuSet, Fact, PerCpu};
use rules::metric::{Kind, Metric, Values};
use rules::watch::{Machine, Part, Reading, Row, parts_add_up};
use std::collections::VecDeque;
use std::sync::Arc;

/// How many values are kept, of all columns, rows and intervals together: 8 MB of them. A machine of two CPUs keeps
/// as many intervals as [`MOST_FRAMES`] says, one of 512 CPUs and 60 columns about a minute of seconds.
const MOST_VALUES: usize = 2_000_000;

/// No terminal is wider than this.
const MOST_FRAMES: usize = 600;

/// The values of the last intervals.
#[derive(Default)]
pub(crate) struct History {
    frames: VecDeque<Frame>,
    n_values: usize,
}

/// One interval.
struct Frame {
    /// Shared with the interval before, as long as CPUs and parts stay the same.
    shape: Arc<[Track]>,
    /// Column by column; not a number where there was no value.
    values: Vec<f32>,
    /// The ledger; nothing where there is none.
    slices: Option<Vec<Slice>>,
    /// The client's number; nothing where it printed none.
    client: Option<f64>,
}

/// Where a column's values stand in a frame.
#[derive(PartialEq)]
struct Track {
    metric: &'static str,
    part: String,
    /// Whose the values are, by CPU; none where there is one value for the host.
    cpus: Option<Vec<u32>>,
    start: usize,
}

impl History {
    /// Remembers a reading, and forgets the oldest where there are too many.
    pub(crate) fn push(&mut self, reading: &Reading) {
        let (shape, values) = frame(reading);
        let shape = match self.frames.back() {
            Some(last) if *last.shape == *shape => Arc::clone(&last.shape),
            _ => shape.into(),
        };
        self.n_values += values.len();
        let slices = reading.shares.as_ref().ok().map(slices);
        let client = reading.client.as_ref().and_then(|it| it.value.as_ref().ok()).copied();
        self.frames.push_back(Frame { shape, values, slices, client });
        while self.frames.len() > MOST_FRAMES || self.n_values > MOST_VALUES {
            let Some(oldest) = self.frames.pop_front() else { break };
            self.n_values -= oldest.values.len();
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = History::default();
    }

    /// What a column said of a row in the last `n` intervals, the oldest first, as they were `later` intervals ago.
    pub(crate) fn of(
        &self,
        (metric, part): (&'static Metric, &Part),
        row: Row,
        machine: &Machine,
        (n, later): (usize, usize),
    ) -> Vec<Option<f64>> {
        let members = (row != Row::Host).then(|| machine.cpus_of(row, &every_cpu(&self.frames)));
        let value = |frame: &Frame| {
            let tracks = frame.shape.iter().filter(|it| it.is_of(metric, part));
            let values = tracks.filter_map(|it| it.value(frame, metric.kind, members.as_ref()));
            values.reduce(|a, b| a + b)
        };
        self.last((n, later)).map(value).collect()
    }

    /// The ledgers of the same intervals.
    pub(super) fn slices(&self, window: (usize, usize)) -> impl Iterator<Item = Option<&[Slice]>> {
        self.last(window).map(|it| it.slices.as_deref())
    }

    /// The numbers of the client in the same intervals.
    pub(super) fn client(&self, window: (usize, usize)) -> Vec<Option<f64>> {
        self.last(window).map(|it| it.client).collect()
    }

    /// The last `n` intervals, as they were `later` intervals ago.
    fn last(&self, (n, later): (usize, usize)) -> impl Iterator<Item = &Frame> {
        let end = self.frames.len().saturating_sub(later);
        self.frames.iter().take(end).skip(end.saturating_sub(n))
    }
}

impl Track {
    fn is_of(&self, metric: &Metric, part: &Part) -> bool {
        self.metric == metric.id
            && match part {
                Part::Whole => self.part.is_empty() || parts_add_up(metric),
                Part::Named(name) => self.part == *name,
            }
    }

    /// The values of `members` as one; of everybody where no members are given.
    fn value(&self, frame: &Frame, kind: Kind, members: Option<&CpuSet>) -> Option<f64> {
        let of = |at: usize| frame.values.get(self.start + at).copied().map(f64::from);
        let Some(cpus) = &self.cpus else {
            return if members.is_none() { of(0).filter(|it| !it.is_nan()) } else { None };
        };
        let is_member = |cpu: &u32| members.is_none_or(|it| it.contains(*cpu));
        let chosen = cpus.iter().enumerate().filter(|(_, cpu)| is_member(cpu));
        let known = chosen.filter_map(|(at, _)| of(at)).filter(|it| !it.is_nan());
        let (n, sum, highest) = known
            .fold((0_u32, 0.0, f64::NEG_INFINITY), |(n, sum, highest), it| {
                (n + 1, sum + it, it.max(highest))
            });
        let value = match kind {
            Kind::Sum => sum,
            Kind::Mean => sum / f64::from(n),
            Kind::Peak => highest,
        };
        (n > 0).then_some(value)
    }
}

/// The CPUs of the last frame.
fn every_cpu(frames: &VecDeque<Frame>) -> CpuSet {
    let tracks = frames.back().map(|it| &*it.shape).unwrap_or_default();
    tracks.iter().filter_map(|it| it.cpus.as_ref()).flatten().copied().collect()
}

fn frame(reading: &Reading) -> (Vec<Track>, Vec<f32>) {
    let (mut shape, mut values) = (Vec::new(), Vec::new());
    for column in &reading.columns {
        let Ok(series) = &column.series else { continue };
        let start = values.len();
        let cpus = match &series.values {
            Values::Host(fact) => {
                values.push(number(fact));
                None
            }
            Values::Cpus(facts) => Some(keep(facts, |cpu| reading.cpus.contains(cpu), &mut values)),
            Values::Cores(facts) | Values::Packages(facts) => {
                Some(keep(facts, |_| true, &mut values))
            }
        };
        shape.push(Track { metric: column.metric.id, part: series.part.clone(), cpus, start });
    }
    (shape, values)
}

fn number(fact: &Fact<f64>) -> f32 {
    fact.as_ref().map_or(f32::NAN, |it| *it as f32)
}

/// Keeps the values of some CPUs, and says of which.
fn keep(facts: &PerCpu<f64>, is_wanted: impl Fn(u32) -> bool, values: &mut Vec<f32>) -> Vec<u32> {
    let wanted = facts.iter().filter(|(cpu, _)| is_wanted(*cpu));
    wanted
        .map(|(cpu, fact)| {
            values.push(number(fact));
            cpu
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::watch::fake;

    #[test]
    fn a_cell_of_the_past_is_what_the_table_said_then() {
        let machine = Machine::fake(2, 4);
        let mut history = History::default();
        let readings: Vec<Reading> = (0..3).map(|at| fake::reading(8, at)).collect();
        readings.iter().for_each(|it| history.push(it));
        for shown in rules::watch::shown_columns(&readings[2], &Default::default()) {
            for row in [Row::Host, Row::Package(1), Row::Core(2), Row::Cpu(5)] {
                let past = history.of((shown.metric, &shown.part), row, &machine, (1, 0));
                let shown = shown.cell(row, &machine, &readings[2]).value();
                let close = match (past[0], shown) {
                    (Some(past), Some(shown)) => (past - shown).abs() <= shown.abs() * 1e-6,
                    (past, shown) => past == shown,
                };
                assert!(close, "{row:?}: {past:?}, {shown:?}");
            }
        }
    }

    #[test]
    fn an_interval_in_which_a_cpu_was_offline_is_a_gap_of_that_cpu_alone() {
        let machine = Machine::fake(1, 2);
        let mut history = History::default();
        for (at, n_cpus) in [(0, 2), (1, 1), (2, 2)] {
            history.push(&fake::reading(n_cpus, at));
        }
        let last = fake::reading(2, 2);
        let columns = rules::watch::shown_columns(&last, &Default::default());
        let busy = columns.iter().find(|it| it.metric.id == "busy").unwrap();
        let known = |row| {
            let values = history.of((busy.metric, &busy.part), row, &machine, (9, 0));
            values.iter().map(Option::is_some).collect::<Vec<_>>()
        };
        assert_eq!(known(Row::Cpu(1)), [true, false, true]);
        assert_eq!(known(Row::Cpu(0)), [true; 3]);
        assert_eq!(known(Row::Host), [true; 3]);
    }

    #[test]
    fn an_interval_without_a_ledger_is_a_gap() {
        let mut history = History::default();
        history.push(&fake::reading(2, 0));
        let shares = Err(facts::Missing::denied("/proc/stat"));
        history.push(&Reading { shares, ..fake::reading(2, 1) });
        let known: Vec<bool> = history.slices((9, 0)).map(|it| it.is_some()).collect();
        assert_eq!(known, [true, false]);
    }

    #[test]
    fn a_large_machine_remembers_less_and_never_more_than_the_bound() {
        let mut history = History::default();
        let reading = fake::reading(8192, 0);
        for _ in 0..100 {
            history.push(&reading);
            assert!(history.n_values <= MOST_VALUES);
        }
        assert!(history.frames.len() < 100 && !history.frames.is_empty());
    }
}
