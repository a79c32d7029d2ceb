//! One interval of this machine: counters at both ends, and what can only be seen in between.
//!
//! Order matters. Tracepoints are opened before the first sample and closed after the last, because opening one
//! patches the kernel's code with an interrupt to every CPU; a sample visits every CPU, which ends its sleep, so that
//! the kernel has written down how long it was.

mod accounts;
pub mod choice;
mod clocks;
pub mod command;
pub mod costs;
pub mod kin;
pub mod spin;
mod tracing;
mod waiting;

use anyhow::Result;
use clocks::Clocks;
use facts::counters::Counters;
use facts::probe::ClockReading;
use facts::{CpuSet, Fact, PerCpu};
use host::counters::Sampler;
use host::perf::Tracer;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use tracing::{Outcome, Tracing};

pub use waiting::Gauge;
pub(crate) use waiting::{STEP, wait};

/// What is to be measured, and with what.
pub struct Plan {
    /// The CPUs to trace and to probe.
    pub cpus: CpuSet,
    /// The open tracepoints, or why there are none.
    pub tracer: Fact<Tracer>,
    /// Whether the clock probe has to visit the CPUs, because no counter shows their clock.
    pub probes_clocks: bool,
    /// Threads whose waiting is to be followed.
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
    sampler.sample(&mut before);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let stopping = Stopping(&stop);
        let begins_ns = before.at.raw_ns;
        let tracing = tracer.and_then(|it| Tracing::start(scope, it, begins_ns, &followed, &stop));
        let (running, ended) = mpsc::channel::<()>();
        let visited = if probes_clocks { cpus.clone() } else { CpuSet::default() };
        let clocks = Clocks::start(scope, visited, ended);
        wait()?;
        drop(running);
        let clocks = clocks.finish();
        drop(stopping);
        // Events of the last sample stay in their rings until it is known which of them were in time.
        let tracing = tracing.map(Tracing::stop);
        sampler.sample(&mut after);
        let traced = match tracing {
            Ok(tracing) => tracing.end(after.at.raw_ns),
            Err(why) => Outcome::none(&cpus, &why),
        };
        Ok(Measured { before, after, clocks, traced })
    })
}

/// Tells the tracing thread to stop when it is dropped, also on the way out of an error: the scope would wait for it
/// for ever.
struct Stopping<'a>(&'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
