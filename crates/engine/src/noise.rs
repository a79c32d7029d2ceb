//! How often and for how long each CPU is taken from a task that never gives it up.
//!
//! All CPUs are watched at once: one after another, a large machine would take an hour, and what strikes all of them
//! in the same moment would look like chance. The thread that empties the trace needs a CPU: one that is not
//! watched where there is one, else time of the spinners, which is kept apart from the noise.

use crate::interrupt::Interrupt;
use crate::measure::choice::Trace;
use crate::measure::{self, Gauge, choice, spin};
use anyhow::Result;
use facts::counters::Moment;
use facts::{CpuSet, HostView, Missing};
use host::Live;
use host::counters::{Sampler, Wanted};
use host::descendants::threads;
use host::perf::Tracer;
use rules::interval::Interval;
use rules::noise::{Noise, Seen};
use std::collections::BTreeSet;
use std::time::Duration;

/// Which CPUs are watched.
pub struct Task<'a> {
    /// All of them at once.
    pub cpus: &'a CpuSet,
    /// Whether to trace who interrupts.
    pub trace: Trace,
    /// For how long.
    pub duration: Duration,
}

/// What the CPUs lost.
pub struct Measured {
    /// What each lost, and to whom.
    pub noise: Noise,
    /// A moment on all clocks, not long before the first spinner began.
    pub at: Moment,
    /// Why nothing was traced, where something was to be.
    pub untraced: Option<Missing>,
    /// Whether this program had a CPU of its own.
    pub is_apart: bool,
    /// The tracepoints, still open: closing them takes time, and a result comes first.
    _tracer: Option<Tracer>,
}

/// Occupies CPUs of this machine, which is `host`, until the time is over or the user wants to stop.
///
/// Errors: no CPU could be watched, and why; tracing was asked for, and is not possible here.
pub fn measure(
    host: &HostView,
    task: &Task<'_>,
    interrupt: &Interrupt,
    gauge: &Gauge<'_>,
) -> Result<Measured> {
    let Task { cpus, trace, duration } = *task;
    let source = Live::this_machine();
    let tracer = choice::tracer(&source, host, trace, cpus, choice::wanted(false), interrupt)?;
    let mut sampler = Sampler::open(Live::this_machine(), host, Wanted::ledger());
    // Threads inherit it, and spinners go to their CPUs all the same.
    let is_apart = host::probe::keep_off(cpus);
    let mut own = BTreeSet::new();
    let seen = spin::spin(cpus, tracer, &mut sampler, duration, || {
        measure::wait(interrupt, duration, gauge, || ());
        own.extend(threads(&source, std::process::id()));
    });
    let noise = Noise::of(&Seen {
        interval: Interval { host, before: &seen.before, after: &seen.after },
        gaps: &seen.gaps,
        events: seen.events.as_ref().map(Vec::as_slice),
        own: &own,
    });
    if noise.cpus.is_empty()
        && let Some((_, missing)) = noise.unwatched.first()
    {
        return Err(missing.clone().into());
    }
    let untraced = seen.events.err().filter(|_| trace != Trace::Never);
    Ok(Measured { noise, at: seen.before.at, untraced, is_apart, _tracer: seen.tracer })
}
