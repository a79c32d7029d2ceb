//! Samples of this machine at even distances, however long each takes, on a tape where there is one.

use super::clocks;
use crate::clock::now;
use facts::counters::{Counters, Family};
use facts::probe::ClockReading;
use facts::tape::Sample;
use facts::{CpuSet, HostView, PerCpu};
use host::Live;
use host::counters::{Exits, Processes, Sampler, Wanted};
use host::probe::Loads;
use host::tape::{RecordError, Writer};
use rules::interval::Interval;
use rules::metric::Tasks;
use rules::watch::{self, Probing, View, due};
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// A sampler, when it is due, and where its samples are kept. A sample is [`counted`](Self::counters), kept and
/// [`done`](Self::done), in this order.
pub(super) struct Sampling {
    sampler: Sampler,
    tape: Option<Writer>,
    started: Instant,
    pace: Pace,
    /// When the latest sample began, since the start.
    began: Duration,
}

impl Sampling {
    /// Samples what `view` is made of, and everything where there is a tape.
    pub(super) fn of(
        live: Live,
        host: &HostView,
        view: &View,
        interval: Duration,
        tape: Option<Writer>,
    ) -> Sampling {
        let everything = View::everything(std::process::id());
        let wanted = wanted(if tape.is_some() { &everything } else { view });
        let adds_up = matches!(wanted.tasks, Some(Processes::AddedUp(_)));
        let mut sampler = Sampler::open(live, host, wanted);
        if adds_up && let Ok(exits) = Exits::listen() {
            sampler.listen_to(exits);
        }
        Sampling { sampler, tape, started: now(), pace: Pace::new(interval), began: Duration::ZERO }
    }

    pub(super) fn is_recorded(&self) -> bool {
        self.tape.is_some()
    }

    /// The length of the tape in bytes.
    pub(super) fn recorded(&self) -> u64 {
        self.tape.as_ref().map_or(0, Writer::length)
    }

    /// The time until the next sample is due.
    pub(super) fn left(&self) -> Duration {
        self.pace.left(self.started.elapsed())
    }

    /// Counts the tasks of this process and of its descendants as those of the recorded command.
    pub(super) fn follow(&mut self, command: u32) {
        self.sampler.follow(command);
    }

    /// Begins a sample; how long it took to read the counters.
    pub(super) fn counters(&mut self, into: &mut Counters) -> Duration {
        self.began = self.started.elapsed();
        self.sampler.sample(into);
        self.started.elapsed().saturating_sub(self.began)
    }

    /// Appends the sample to the tape, if there is one.
    pub(super) fn keep(&mut self, sample: &Sample) -> Result<(), RecordError> {
        self.tape.as_mut().map_or(Ok(()), |it| it.append(sample))
    }

    /// Ends the work on a sample. A note where the next one will be late.
    pub(super) fn done(&mut self) -> Option<String> {
        let now = self.started.elapsed();
        self.pace.sampled(now.saturating_sub(self.began), now)
    }

    /// Waits until the tape, if there is one, is on disk.
    pub(super) fn finish(self) -> Result<(), RecordError> {
        self.tape.map_or(Ok(()), Writer::finish)
    }
}

/// What the sampler reads for a view. Tracepoints are not part of it: they are opened separately.
fn wanted(view: &View) -> Wanted {
    if let Some(own) = view.ledger {
        // The time of this program itself is in the ledger.
        let tasks = Some(Processes::AddedUp(vec![own]));
        return Wanted { tasks, groups_of: vec![own], ..Wanted::watch() };
    }
    let probe = view.clock_probe.then_some(&watch::PROBE);
    let has = |family: &&Family| {
        view.metrics.iter().copied().chain(probe).any(|it| it.families.contains(*family))
    };
    let families = Family::ALL.iter().filter(has).filter(|it| !it.is_traced()).copied().collect();
    let tasks = match view.metrics.iter().map(|it| it.tasks).max() {
        None | Some(Tasks::None) => None,
        Some(Tasks::Kernel) => Some(Processes::KernelThreads),
        Some(Tasks::All) => Some(Processes::AddedUp(Vec::new())),
    };
    Wanted { tasks, ..Wanted::only(families) }
}

/// When samples are due; all times are counted from the first sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    interval: Duration,
    due: Duration,
}

impl Pace {
    /// A sample each `interval`.
    pub(super) fn new(interval: Duration) -> Pace {
        Pace { interval, due: interval }
    }

    /// The time until the next sample is due.
    pub(super) fn left(&self, now: Duration) -> Duration {
        self.due.saturating_sub(now)
    }

    /// Notes that a sample was taken, and how long it took. A note where the next one was already due: then samples are taken as
    /// fast as possible, and not at the requested interval.
    pub(super) fn sampled(&mut self, took: Duration, now: Duration) -> Option<String> {
        let interval = self.interval;
        self.due = self.due.saturating_add(interval);
        if self.due > now {
            return None;
        }
        let late = now.saturating_sub(self.due);
        self.due = now.saturating_add(interval);
        if took >= interval {
            return Some(format!(
                "sampling took {took:.1?}, longer than the interval of {interval:?}"
            ));
        }
        (late >= interval).then(|| {
            format!("a sample came {late:.1?} late: something kept fullclock from running")
        })
    }
}

/// The usual interval of recordings; more often they would show themselves.
const INTERVAL: Duration = Duration::from_secs(1);

/// A recording of this machine on a thread of its own, until it is finished or dropped.
pub struct Taping {
    stop_sender: Sender<()>,
    thread: JoinHandle<Result<(), RecordError>>,
}

impl Taping {
    /// Records this machine, which is `host`, on `tape`: everything that samples have, and the clock of busy CPUs where no counter
    /// shows it, without which their ledger would be unexplained: 1.1 ms of each such CPU a second. On one busy CPU after the other it
    /// also times loads. `told` is given the length of the tape whenever it has grown.
    ///
    /// Errors: there is no thread to be had.
    pub fn begin(
        tape: Writer,
        host: &HostView,
        told: impl FnMut(u64) + Send + 'static,
    ) -> io::Result<Taping> {
        let (stop_sender, stop) = mpsc::channel();
        let live = Live::this_machine();
        let sampling =
            Sampling::of(live, host, &View::everything(std::process::id()), INTERVAL, Some(tape));
        let thread = Builder::new().name("recording".to_owned());
        let host = host.clone();
        let thread = thread.spawn(move || record(sampling, &host, &stop, told))?;
        Ok(Taping { stop_sender, thread })
    }

    /// Takes a last sample, and waits until the disk has the tape.
    ///
    /// Errors: the first sample that is not on the tape, and why; the tape says so, too.
    pub fn finish(self) -> Result<(), RecordError> {
        drop(self.stop_sender);
        // Its panic is on standard error already.
        self.thread.join().unwrap_or(Ok(()))
    }
}

fn record(
    mut sampling: Sampling,
    host: &HostView,
    stop: &Receiver<()>,
    mut told: impl FnMut(u64),
) -> Result<(), RecordError> {
    let mut before = Sample::from(Counters::unread());
    let mut sample = before.clone();
    let (mut appended, mut is_over) = (Ok(()), false);
    let mut loads = Loads::new();
    for turn in 0.. {
        sampling.counters(&mut sample.counters);
        if turn > 0 {
            sample.clocks = probe(host, &before, &sample, turn);
            sample.loads = clocks::loads(&mut loads, host, || busy(host, &before, &sample));
        }
        // A disk that is full may have room for the next one.
        appended = appended.and(sampling.keep(&sample));
        told(sampling.recorded());
        if is_over {
            break;
        }
        std::mem::swap(&mut before, &mut sample);
        // One that came late says so by its own time.
        sampling.done();
        is_over = stop.recv_timeout(sampling.left()) != Err(RecvTimeoutError::Timeout);
    }
    appended.and(sampling.finish())
}

/// The CPUs that were busy between two samples.
fn busy(host: &HostView, before: &Sample, after: &Sample) -> CpuSet {
    let (before, after) = (&before.counters, &after.counters);
    due(Probing::Busy, &Interval { host, before, after }, &after.online)
}

/// Probes the CPUs that were busy between two samples, where no counter shows their clock.
fn probe(host: &HostView, before: &Sample, after: &Sample, turn: usize) -> PerCpu<ClockReading> {
    if clocks::are_counted(&after.counters) {
        return PerCpu::default();
    }
    clocks::probe(&busy(host, before, after), turn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ids: &[&str]) -> Wanted {
        wanted(&View::of_metrics(|it| ids.contains(&it.id)))
    }

    #[test]
    fn only_what_the_metrics_are_made_of_is_sampled() {
        let asked = of(&["busy", "interrupts"]);
        assert_eq!(asked.families, [Family::CpuTimes, Family::Interrupts]);
        assert_eq!((asked.tasks, asked.groups), (None, false));
        assert_eq!(of(&["kernel-threads"]).tasks, Some(Processes::KernelThreads));
        let all = of(&["kernel-threads", "run-queue-wait"]).tasks;
        assert_eq!(all, Some(Processes::AddedUp(Vec::new())));
    }

    #[test]
    fn the_clock_probe_needs_to_know_which_cpus_are_busy() {
        assert!(of(&["clock-probe"]).families.contains(&Family::CpuTimes));
    }

    #[test]
    fn a_trace_is_never_sampled() {
        assert_eq!(of(&["tick-stops"]).families, []);
    }

    #[test]
    fn the_ledger_wants_everything_that_is_cheap_and_its_own_tasks() {
        let asked = wanted(&View::everything(20));
        assert_eq!(asked.families, Wanted::watch().families);
        assert_eq!(asked.groups_of, [20]);
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn samples_stay_in_step_with_the_first() {
        let mut pace = Pace::new(SECOND);
        assert_eq!(pace.sampled(SECOND / 10, SECOND * 11 / 10), None);
        assert_eq!(pace.left(SECOND * 11 / 10), SECOND * 9 / 10);
    }

    #[test]
    fn a_sample_that_takes_longer_than_the_interval_is_told() {
        let mut pace = Pace::new(SECOND);
        let told = pace.sampled(SECOND * 3 / 2, SECOND * 5 / 2);
        assert_eq!(told.as_deref(), Some("sampling took 1.5s, longer than the interval of 1s"));
        assert_eq!(pace.left(SECOND * 5 / 2), SECOND);
    }

    #[test]
    fn a_sample_that_comes_late_is_told() {
        let mut pace = Pace::new(SECOND);
        let told = pace.sampled(SECOND / 100, SECOND * 4).unwrap();
        assert!(told.starts_with("a sample came 2.0s late"), "{told}");
    }
}
