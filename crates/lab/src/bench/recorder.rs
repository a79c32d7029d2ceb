//! What the CPUs did around a trial: their clock, and their ledger and metrics from about one second before it to its end.
//!
//! A second, because some sources count in steps of 10 ms, and because a disturbance has often begun before the trial. Nothing
//! is sampled during a trial, which the sample would disturb: where the trial before was a long one, the window begins between
//! the two. Trials whose pieces take turns share one window, to the end of the last of them, and none has its own part of it.
//! Where settings are changed around each trial, the window begins with the trial: before it the machine had other settings.

use crate::failure::Failure;
use crate::known::Known;
use crate::threads::on_each;
use crate::trial::{PackedList, Reading, Share, TrialClock, TrialContext};
use facts::counters::Counters;
use facts::probe::{ClockReading, EventCosts};
use facts::{CpuSet, Fact, HostView, Missing, PerCpu, Why};
use host::Live;
use host::counters::{Sampler, Wanted};
use host::probe::{Windows, clock};
use rules::check::Check;
use rules::finding::Finding;
use rules::interval::Interval;
use rules::ledger::{EndedTasks, Evidence, Ledger, ServerTasks, close};
use rules::metric::Values;
use rules::metrics::METRICS;
use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// How much time before a trial belongs to it.
const LEAD: Duration = Duration::from_secs(1);

/// Samples that lie closer than this are not all kept: trials may take only milliseconds.
const STEP_NS: u64 = 100_000_000;

/// Samples this machine and remembers the last second.
pub(crate) struct Recorder<'a> {
    host: &'a HostView,
    sampler: Sampler,
    /// The cost of an event on this machine, for the ledgers.
    costs: Fact<EventCosts>,
    /// The oldest first; the last one is the latest.
    samples: VecDeque<Sample>,
    /// Room for samples that are no longer needed, so that a sample allocates nothing.
    spare: Vec<Counters>,
}

/// The counters of the machine at one moment.
struct Sample {
    counters: Counters,
    /// How long this process has run, with its threads that have ended.
    own_ns: u64,
}

/// Whose work it was.
pub(crate) struct Work<'a> {
    /// The CPUs it ran on.
    pub(crate) cpus: &'a CpuSet,
    pub(crate) processes: Vec<u32>,
    /// Its tasks in other processes.
    pub(crate) tasks: Vec<u32>,
    /// The server that it was done in.
    pub(crate) server: Option<ServerTasks>,
    /// How long its tasks ran, where that is known: of processes that have ended, with all that they waited for.
    pub(crate) cpu_ns: Option<u64>,
    /// The clocks that the probe read on those CPUs.
    pub(crate) clocks: Vec<ClockReading>,
}

impl<'a> Recorder<'a> {
    /// Opens every counter; nothing is sampled yet.
    pub(crate) fn open(host: &'a HostView, costs: Fact<EventCosts>) -> Recorder<'a> {
        Recorder::of(host, costs, Wanted::ledger())
    }

    /// The same of these counters.
    pub(crate) fn of(host: &'a HostView, costs: Fact<EventCosts>, wanted: Wanted) -> Recorder<'a> {
        let sampler = Sampler::open(Live::this_machine(), host, wanted);
        Recorder { host, sampler, costs, samples: VecDeque::new(), spare: Vec::new() }
    }

    /// Takes a sample before a trial, unless there has just been one; how much longer the trial has to wait for
    /// [`LEAD`] to be over.
    pub(super) fn begin(&mut self) -> Duration {
        let now_ns = host::probe::anchor().raw_ns;
        let is_recent = |it: &Sample| now_ns.saturating_sub(it.raw_ns()) < STEP_NS;
        if !self.samples.back().is_some_and(is_recent) {
            self.sample();
        }
        let newest = self.samples.back().map_or(0, Sample::raw_ns);
        let oldest = self.samples.front().map_or(newest, Sample::raw_ns);
        LEAD.saturating_sub(Duration::from_nanos(newest.saturating_sub(oldest)))
    }

    /// Takes a sample after a trial that began at `began_ns` of CLOCK_MONOTONIC_RAW, and says what happened from about
    /// [`LEAD`] before that.
    pub(crate) fn end(&mut self, began_ns: u64, work: Work<'_>) -> Known<TrialContext> {
        self.sample();
        self.forget(first_of_window(self.samples.iter().map(Sample::raw_ns), began_ns));
        match (self.samples.front(), self.samples.back()) {
            (Some(before), Some(after)) => {
                let interval =
                    Interval { host: self.host, before: &before.counters, after: &after.counters };
                let own_ns = after.own_ns.saturating_sub(before.own_ns);
                let ended_ns = ended_ns(&interval, &work, own_ns);
                Known::Value(surroundings(interval, &self.costs, work, ended_ns))
            }
            _ => Known::missing("there is no sample of the time before"),
        }
    }

    /// Takes a sample after the work, and makes the ledger of its CPUs since the first sample that is remembered. `ended_ns` is
    /// how long programs ran that this process started and that have ended, `after` the host as it is then.
    ///
    /// Errors: no sample was taken before.
    pub(crate) fn ledger(
        &mut self,
        work: Work<'_>,
        ended_ns: u64,
        after: &HostView,
        findings: &[(&'static Check, Finding)],
    ) -> Fact<Ledger> {
        self.sample();
        let [before, .., last] = self.samples.make_contiguous() else {
            return Err(Missing::not_collected("a sample of the time before"));
        };
        let interval =
            Interval { host: self.host, before: &before.counters, after: &last.counters };
        let own_ns = last.own_ns.saturating_sub(before.own_ns);
        let ended_ns = self::ended_ns(&interval, &work, own_ns).saturating_add(ended_ns);
        let evidence = evidence(interval, &self.costs, work, ended_ns);
        Ok(close(&Evidence { host_after: Some(after), findings, ..evidence }))
    }

    /// Takes a sample before a trial with its own window: for the trial before, the machine had other settings.
    pub(crate) fn begin_apart(&mut self) {
        self.forget(self.samples.len());
        self.sample();
    }

    /// Lets the next trial's window begin at its own start: what ran before it has ended, and would be another's task
    /// in its ledger.
    pub(crate) fn forget_past(&mut self) {
        self.forget(self.samples.len().saturating_sub(1));
    }

    fn sample(&mut self) {
        // The latest sample is replaced while the one before it is recent enough.
        let n = self.samples.len();
        let is_close = n >= 2
            && self.samples[n - 1].raw_ns().saturating_sub(self.samples[n - 2].raw_ns()) < STEP_NS;
        let latest = if is_close { self.samples.pop_back() } else { None };
        let mut counters = latest
            .map(|it| it.counters)
            .or_else(|| self.spare.pop())
            .unwrap_or_else(Counters::unread);
        self.sampler.sample(&mut counters);
        self.samples.push_back(Sample { counters, own_ns: own_cpu_ns() });
    }

    fn forget(&mut self, count: usize) {
        let forgotten = self.samples.drain(..count.min(self.samples.len()));
        self.spare.extend(forgotten.map(|it| it.counters));
    }
}

impl Sample {
    fn raw_ns(&self) -> u64 {
        self.counters.at.raw_ns
    }
}

/// Which of the samples that were taken at these times the window of a trial begins with: the one nearest to [`LEAD`]
/// before it, of those that are no part of it.
fn first_of_window(times_ns: impl Iterator<Item = u64>, began_ns: u64) -> usize {
    let lead_ns = u64::try_from(LEAD.as_nanos()).unwrap_or(u64::MAX);
    let wished_ns = began_ns.saturating_sub(lead_ns);
    let before = times_ns.enumerate().take_while(|(_, at_ns)| *at_ns <= began_ns);
    before.min_by_key(|(_, at_ns)| at_ns.abs_diff(wished_ns)).map_or(0, |(at, _)| at)
}

fn own_cpu_ns() -> u64 {
    // It is never negative (clock_gettime(2)).
    let time = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default();
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// How long tasks of the work ran that have ended: threads of this process, which ran for `own_ns`, or the children
/// of a command. What is left of all once those are taken off that are there at the end.
fn ended_ns(interval: &Interval<'_>, work: &Work<'_>, own_ns: u64) -> u64 {
    let is_own = work.processes.contains(&std::process::id());
    let all_ns = if is_own { own_ns } else { work.cpu_ns.unwrap_or(0) };
    let Ok((deltas, _)) = interval.task_deltas() else { return 0 };
    let pid =
        |it: &u32| if is_own { *it == std::process::id() } else { work.processes.contains(it) };
    let there = deltas.iter().filter(|it| pid(&it.task.pid)).map(|it| it.run_ns);
    let server_ns = work.server.as_ref().map_or(0, |it| it.ended_ns);
    all_ns.saturating_sub(there.fold(0, u64::saturating_add)).saturating_add(server_ns)
}

fn surroundings(
    interval: Interval<'_>,
    costs: &Fact<EventCosts>,
    work: Work<'_>,
    ended_ns: u64,
) -> TrialContext {
    let cpus = work.cpus;
    let ledger = close(&evidence(interval, costs, work, ended_ns));
    let capacity = ledger.capacity_ns().max(1) as f64;
    TrialContext {
        cpus: cpus.to_string(),
        window_ns: ledger.wall_ns,
        unexplained: ledger.unexplained_ns as f64 / capacity,
        ledger: shares(&ledger, capacity),
        metrics: readings(&interval, cpus).into(),
    }
}

fn evidence<'a>(
    interval: Interval<'a>,
    costs: &Fact<EventCosts>,
    work: Work<'_>,
    ended_ns: u64,
) -> Evidence<'a> {
    let clocks: PerCpu<Vec<ClockReading>> = work
        .cpus
        .iter()
        .map(|cpu| {
            (cpu, work.clocks.iter().filter(|it| it.cpu == cpu).copied().collect::<Vec<_>>())
        })
        .filter(|(_, readings)| !readings.is_empty())
        .map(|(cpu, readings)| (cpu, Ok(readings)))
        .collect();
    let own = std::process::id();
    Evidence {
        cpus: work.cpus.clone(),
        clocks,
        costs: costs.clone(),
        // A task counts for the first of the work's processes; they all count alike.
        kin: work
            .processes
            .first()
            .map_or_else(BTreeMap::new, |pid| work.tasks.iter().map(|tid| (*tid, *pid)).collect()),
        // Where another process does the work, this one only observes.
        observer: if work.processes.contains(&own) { 0 } else { own },
        chosen: work.processes,
        server: work.server,
        ended: match ended_ns {
            0 => Err(Missing::not_collected("run times of tasks that ended")),
            ns => Ok(EndedTasks { ns, uncertainty_ns: 0 }),
        },
        ..Evidence::of(interval)
    }
}

fn shares(ledger: &Ledger, capacity: f64) -> PackedList<Share> {
    let share = |line: &rules::ledger::Line| Share {
        loss: line.loss.id.to_owned(),
        part: line.part.clone(),
        share: line.ns.clone().map(|ns| ns as f64 / capacity).into(),
    };
    ledger.lines.iter().map(share).collect()
}

/// Every metric of the CPUs together. One that this machine does not have is there once, with the reason.
fn readings(interval: &Interval<'_>, cpus: &CpuSet) -> Vec<Reading> {
    let mut readings = Vec::new();
    for metric in METRICS {
        let mut push = |part: &str, value: Fact<f64>| {
            let (metric, part) = (metric.id.to_owned(), part.to_owned());
            readings.push(Reading { metric, part, value: value.into() });
        };
        match (metric.measure)(interval) {
            Err(why) => push("", Err(why)),
            Ok(series) => {
                for series in series {
                    let value = match &series.values {
                        Values::Host(value) => value.clone(),
                        _ => series.over(cpus, metric.kind).map(|it| it.value),
                    };
                    push(&series.part, value);
                }
            }
        }
    }
    readings
}

/// The clocks that the probe reads on all of `cpus` at once: the clock of a core depends on how many others are awake. Missing
/// where one of them cannot be read.
pub(crate) fn clocks(cpus: &CpuSet) -> Fact<Vec<ClockReading>> {
    let unread = |failure: Failure| {
        let why = Why::Failed(failure.to_string());
        Missing { what: "the clock of the CPUs".to_owned(), why }
    };
    on_each(Some(cpus), || clock(Windows::SHORT)).map_err(unread)?.into_iter().collect()
}

/// The clock of a trial, from the readings before and after it.
pub(crate) fn trial_clock(
    before: &Fact<Vec<ClockReading>>,
    after: &Fact<Vec<ClockReading>>,
) -> Known<TrialClock> {
    let both = before.as_ref().and_then(|before| Ok((before, after.as_ref()?)));
    let around = both
        .map(|(before, after)| TrialClock { before_hz: mean_hz(before), after_hz: mean_hz(after) });
    around.map_err(Clone::clone).into()
}

/// The mean of what was seen, in hertz.
fn mean_hz(readings: &[ClockReading]) -> f64 {
    let sum: f64 = readings.iter().map(|it| it.mean.0 as f64).sum();
    sum / readings.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first sample of a window, of samples at these milliseconds, the last one right after the trial.
    fn first_ms(samples_ms: &[u64], began_ms: u64) -> u64 {
        let times_ns = samples_ms.iter().map(|ms| ms * 1_000_000);
        samples_ms[first_of_window(times_ns, began_ms * 1_000_000)]
    }

    #[test]
    fn a_window_begins_about_a_second_before_its_trial() {
        assert_eq!(first_ms(&[0, 300, 600, 900, 1200, 1500, 1800], 1500), 600);
        assert_eq!(first_ms(&[5000, 6000, 9000], 6000), 5000);
    }

    #[test]
    fn a_long_trial_is_in_no_window_but_its_own() {
        assert_eq!(first_ms(&[0, 1000, 4000, 7000], 4000), 4000);
    }

    #[test]
    fn a_window_begins_no_later_than_its_trial() {
        assert_eq!(first_ms(&[0, 5010, 5020], 5000), 0);
    }
}
