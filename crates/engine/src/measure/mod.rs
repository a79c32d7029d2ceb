//! One interval of this machine: counters at both ends, and what can only be seen in between.
//!
//! Order matters. Tracepoints are opened before the first sample and closed after the last, because opening one
//! patches the kernel's code with an interrupt to every CPU; a sample visits every CPU, which ends its sleep, so that
//! the kernel has written down how long it was.

pub mod choice;
pub mod command;
pub mod costs;
pub(crate) mod family;
pub mod hearing;
pub(crate) mod server;
pub mod server_view;
pub mod spin;
pub(crate) mod tracing;

use crate::clock::now;
use crate::interrupt::Interrupt;
use anyhow::Result;
use facts::counters::Counters;
use facts::probe::ClockReading;
use facts::{CpuSet, Fact, Missing, PerCpu};
use host::counters::Sampler;
use host::perf::Tracer;
use host::probe::{Windows, clock, pinned};
use host::process;
use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;
use tracing::{Outcome, Signs, Tracing};

/// What is to be measured, and with what.
pub struct Plan {
    /// The CPUs to trace and to probe.
    pub cpus: CpuSet,
    /// The open tracepoints, or why there are none.
    pub tracer: Fact<Tracer>,
    /// Whether the clock probe has to visit the CPUs, because no counter shows their clock.
    pub probes_clocks: bool,
    /// Threads whose waiting is to be followed, and that of the tasks that they make.
    pub followed: Vec<u32>,
}

/// What an interval showed.
pub struct Measured {
    /// The counters at the beginning.
    pub before: Counters,
    /// The counters at the end.
    pub after: Counters,
    /// The clocks that the probe saw in between, by CPU.
    pub clocks: PerCpu<Vec<ClockReading>>,
    /// What was traced in between.
    pub traced: Outcome,
}

/// Measures from a first sample until `wait` returns.
pub fn observe(
    plan: Plan,
    sampler: &mut Sampler,
    wait: impl FnOnce() -> Result<()>,
) -> Result<Measured> {
    let (mut before, mut after) = (Counters::unread(), Counters::unread());
    let Plan { cpus, tracer, probes_clocks, followed } = plan;
    let signs = Signs::default();
    std::thread::scope(|scope| {
        let finishing = Finishing(&signs);
        let tracing = tracer.and_then(|it| Tracing::start(scope, it, &followed, &signs));
        sampler.sample(&mut before);
        signs.begin(before.at.raw_ns);
        let (running, ended) = mpsc::channel::<()>();
        let visited = if probes_clocks { cpus.clone() } else { CpuSet::default() };
        let clocks = Clocks::start(scope, visited, ended);
        wait()?;
        drop(running);
        let clocks = clocks.finish();
        signs.end_soon();
        sampler.sample(&mut after);
        drop(finishing);
        let traced = match tracing.map(Tracing::stop) {
            Ok(traced) => traced.end(before.at.raw_ns, after.at.raw_ns),
            Err(why) => Outcome::none(&cpus, &why),
        };
        Ok(Measured { before, after, clocks, traced })
    })
}

/// Tells the tracing thread that it is over when it is dropped, also on the way out of an error: the scope would wait for it
/// for ever.
struct Finishing<'a>(&'a Signs);

impl Drop for Finishing<'_> {
    fn drop(&mut self) {
        self.0.finish();
    }
}

/// Begins to show the progress of a measurement that takes this long, or an unknown time. The function that it returns is called
/// with the elapsed time, and dropped when the measurement ends.
pub type Gauge<'a> = dyn Fn(Option<Duration>) -> Box<dyn FnMut(Duration)> + 'a;

/// The time between two updates that an eye can follow.
pub(crate) const STEP: Duration = Duration::from_millis(200);

/// Waits that long, or until the user wants to stop, and calls `at_each_step` before each [`STEP`].
pub(crate) fn wait(
    interrupt: &Interrupt,
    length: Duration,
    gauge: &Gauge<'_>,
    mut at_each_step: impl FnMut(),
) {
    let mut show = gauge(Some(length));
    let started = now();
    while let Some(left) = length.checked_sub(started.elapsed()).filter(|it| !it.is_zero()) {
        show(started.elapsed());
        at_each_step();
        if interrupt.wait(left.min(STEP)) {
            break;
        }
    }
}

/// The time between visits of one CPU: a millisecond in this is 0.2 % of it.
const PAUSE: Duration = Duration::from_millis(500);

/// The thread that visits each CPU with the clock probe during an interval.
///
/// Only for CPUs whose clock no counter shows: a visit takes a millisecond of the CPU's time, which the ledger counts as
/// measuring.
struct Clocks<'scope> {
    cpus: CpuSet,
    thread: Fact<ScopedJoinHandle<'scope, PerCpu<Vec<ClockReading>>>>,
}

impl<'scope> Clocks<'scope> {
    /// Begins to visit `cpus` in turn until the sender of `stop` is dropped.
    fn start(scope: &'scope Scope<'scope, '_>, cpus: CpuSet, stop: Receiver<()>) -> Clocks<'scope> {
        let visited = cpus.clone();
        let work = move || {
            let mut readings: BTreeMap<u32, Fact<Vec<ClockReading>>> = BTreeMap::new();
            loop {
                for cpu in visited.iter() {
                    if stop.try_recv() == Err(TryRecvError::Disconnected) {
                        break;
                    }
                    add(&mut readings, cpu, visit(cpu));
                }
                if stop.recv_timeout(PAUSE) != Err(RecvTimeoutError::Timeout) {
                    return readings.into_iter().collect();
                }
            }
        };
        Clocks {
            cpus,
            thread: process::scoped_thread(scope, "clocks", "the clock by the probe", work),
        }
    }

    /// The readings, after the sender was dropped, or why no thread could be started.
    fn finish(self) -> PerCpu<Vec<ClockReading>> {
        match self.thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(why) => self.cpus.iter().map(|cpu| (cpu, Err(why.clone()))).collect(),
        }
    }
}

fn visit(cpu: u32) -> Fact<ClockReading> {
    pinned(cpu, || clock(Windows::SHORT))?
}

/// A CPU with any reading has readings; one without any has the last reason.
fn add(readings: &mut BTreeMap<u32, Fact<Vec<ClockReading>>>, cpu: u32, visit: Fact<ClockReading>) {
    let known = readings.entry(cpu).or_insert_with(|| Err(Missing::not_collected("")));
    match (known, visit) {
        (Ok(known), Ok(reading)) => known.push(reading),
        (known @ Err(_), Ok(reading)) => *known = Ok(vec![reading]),
        (known @ Err(_), Err(missing)) => *known = Err(missing),
        (Ok(_), Err(_)) => {}
    }
}
