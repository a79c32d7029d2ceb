//! How often each CPU ticks, and why one ticks that should not.
//!
//! Ticks are counted first, and only then is the kernel asked why it kept them: some kernels stop the tick only while
//! somebody traces the attempts.

use crate::interrupt::Interrupt;
use facts::counters::{Counters, Family, Tasks};
use facts::{CpuSet, Fact, HostView, Missing, Why};
use host::Live;
use host::counters::{Processes, Sampler, Wanted};
use host::perf::{GroupTable, counters};
use rules::interval::Interval;
use rules::tick::{CpuTicks, Samples, full_rate, suspects, ticks};
use std::time::Duration;

/// A second holds a hundred ticks of the slowest kernel, and as many reasons.
const LONGEST_TRACE: Duration = Duration::from_secs(1);

/// The counters at both ends of a measurement.
pub struct Measured {
    before: Counters,
    after: Counters,
    /// Whether the user wanted to wait no longer.
    stopped: bool,
}

/// What was found of each CPU.
pub struct Found {
    /// Ascending by CPU.
    pub ticks: Vec<CpuTicks>,
    /// For how long was counted, in nanoseconds.
    pub elapsed_ns: u64,
    /// Ticks a second of a CPU whose tick does not stop.
    pub full_rate: Fact<f64>,
}

/// Counts the ticks of these CPUs.
pub fn count(host: &HostView, cpus: &CpuSet, time: Duration, interrupt: &Interrupt) -> Measured {
    measure(counting(host, cpus), time, interrupt)
}

/// Asks the kernel why it kept the ticks of these CPUs, for `time` or a second.
pub fn trace(
    host: &HostView,
    cpus: &CpuSet,
    time: Duration,
    interrupt: &Interrupt,
) -> Fact<Measured> {
    let time = time.min(LONGEST_TRACE);
    tracing(host, cpus).map(|probe| measure(probe, time, interrupt))
}

impl Measured {
    /// The CPUs that ticked and should not; or why the kernel need not be asked about any.
    pub fn suspects(&self, host: &HostView, cpus: &CpuSet) -> Fact<CpuSet> {
        if self.stopped {
            let why = Why::Failed("it was stopped before it came to that".to_owned());
            return Err(Missing { what: Family::TickStops.source().to_owned(), why });
        }
        let suspects = suspects(&self.interval(host), cpus);
        if suspects.is_empty() {
            return Err(Missing::not_collected(Family::TickStops.source()));
        }
        Ok(suspects)
    }

    /// How often each CPU ticked, and why, with what [`trace`] found.
    ///
    /// Errors: no time has passed.
    pub fn found(&self, host: &HostView, cpus: &CpuSet, traced: &Fact<Measured>) -> Fact<Found> {
        let counted = self.interval(host);
        let traced = match traced {
            Ok(it) => Ok(it.interval(host)),
            Err(missing) => Err(missing.clone()),
        };
        let (elapsed_ns, full_rate) = (counted.elapsed_ns(), full_rate(&counted));
        let ticks = ticks(&Samples { counted, traced }, cpus)?;
        Ok(Found { ticks, elapsed_ns: elapsed_ns?, full_rate })
    }

    fn interval<'a>(&'a self, host: &'a HostView) -> Interval<'a> {
        Interval { host, before: &self.before, after: &self.after }
    }
}

/// What is read at both ends of a measurement.
struct Probe {
    /// The tasks, which take long to read.
    tasks: Option<Sampler>,
    /// Counters of perf, and the family that their table is.
    groups: Fact<GroupTable>,
    family: Family,
    /// /proc/interrupts and /proc/stat.
    timers: Sampler,
}

/// Counts the interrupts of the CPUs' own timers, by /proc/interrupts and by tracepoint.
fn counting(host: &HostView, cpus: &CpuSet) -> Probe {
    let tasks = Wanted { tasks: Some(Processes::All), ..Wanted::only(Vec::new()) };
    // A sampler raises the limit of open files, which a large machine needs for the tracepoint too.
    let tasks = Some(Sampler::open(Live::this_machine(), host, tasks));
    let timers = sampler(host, &[Family::Interrupts, Family::CpuTimes]);
    let entry = counters::tracepoint(&Live::this_machine(), "irq_vectors", "local_timer_entry");
    let groups = entry.and_then(|entry| GroupTable::open(cpus, &[entry], &["local_timer"]));
    Probe { tasks, groups, family: Family::TimerEntries, timers }
}

/// Counts the attempts to stop the tick of these CPUs by their outcome, and the timer's interrupts again.
fn tracing(host: &HostView, cpus: &CpuSet) -> Fact<Probe> {
    let stops = counters::tick_stops(&Live::this_machine())?;
    let names: Vec<&str> = counters::TICK_DEPENDENCIES.iter().map(|(_, name)| *name).collect();
    let groups = Ok(GroupTable::open(cpus, &stops, &names)?);
    let timers = sampler(host, &[Family::Interrupts, Family::CpuTimes]);
    Ok(Probe { tasks: None, groups, family: Family::TickStops, timers })
}

fn sampler(host: &HostView, families: &[Family]) -> Sampler {
    let wanted = Wanted::only(families.to_vec());
    Sampler::open(Live::this_machine(), host, wanted)
}

fn measure(mut probe: Probe, time: Duration, interrupt: &Interrupt) -> Measured {
    let mut before = Counters::unread();
    let earlier_tasks = probe.tasks();
    // perf's counts are read right around /proc/interrupts, so that they hold everything that it does.
    probe.read_grid(&mut before);
    probe.timers.sample(&mut before);
    let stopped = interrupt.wait(time);
    let mut after = before.clone();
    probe.timers.sample(&mut after);
    probe.read_grid(&mut after);
    before.tasks = earlier_tasks;
    after.tasks = probe.tasks();
    Measured { before, after, stopped }
}

impl Probe {
    fn read_grid(&mut self, into: &mut Counters) {
        *into.table_mut(self.family) = match &mut self.groups {
            Ok(groups) => Ok(groups.read()),
            Err(missing) => Err(missing.clone()),
        };
    }

    fn tasks(&mut self) -> Fact<Tasks> {
        let mut counters = Counters::unread();
        if let Some(sampler) = &mut self.tasks {
            sampler.sample(&mut counters);
        }
        counters.tasks
    }
}
