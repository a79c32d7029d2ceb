//! One interval in which every chosen CPU is occupied by a spinner of ours.
//!
//! The time lines of the spinners and the traced events are kept apart and joined afterwards: thousands of gaps a
//! second cannot each be looked into while they happen.

use facts::counters::Counters;
use facts::probe::{ClockReading, Gaps};
use facts::trace::Event;
use facts::{CpuSet, Fact, Missing, PerCpu, Why};
use host::counters::Sampler;
use host::perf::Tracer;
use host::probe::{Watch, Windows, anchor, clock, pinned};
use host::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

/// What spinners on all CPUs saw.
pub struct Spun {
    /// The counters at the beginning.
    pub before: Counters,
    /// The counters at the end.
    pub after: Counters,
    /// The time line of each CPU's spinner.
    pub gaps: PerCpu<Gaps>,
    /// The clock of each CPU before and behind its time line.
    pub clocks: PerCpu<Vec<ClockReading>>,
    /// What was traced meanwhile on all of them, or why nothing was.
    pub events: Fact<Vec<Event>>,
    /// The tracepoints, still open; see [`super::tracing::Outcome`].
    pub tracer: Option<Tracer>,
}

/// Gaps that a second has room for: a tick of 1,000 Hz on a CPU that is busy with interrupts besides.
const GAPS_PER_SECOND: f64 = 20_000.0;
/// 16 MiB of gaps for each CPU.
const MOST_GAPS: usize = 1 << 20;
/// Events that are kept: 64 bytes each.
const MOST_EVENTS: usize = 1 << 22;

/// A ring of events lasts for seconds of a spinning CPU, and emptying it takes time from the spinners.
const PATIENCE: Duration = Duration::from_millis(100);

/// Spins on `cpus` for `length`, or until `wait` returns.
pub fn spin(
    cpus: &CpuSet,
    tracer: Fact<Tracer>,
    sampler: &mut Sampler,
    length: Duration,
    wait: impl FnOnce(),
) -> Spun {
    let (mut before, mut after) = (Counters::unread(), Counters::unread());
    let room = (length.as_secs_f64() * GAPS_PER_SECOND) as usize;
    let watch = Watch { length, room: room.clamp(1024, MOST_GAPS) };
    let (stop, done) = (AtomicBool::new(false), AtomicBool::new(false));
    sampler.sample(&mut before);
    let (seen, (events, tracer)) = std::thread::scope(|scope| {
        let collecting =
            process::scoped_thread(scope, "trace", "trace of the spinning CPUs", || {
                collect(tracer, &done)
            });
        let start = |cpu| {
            let (name, what) = (format!("spinner/{cpu}"), format!("the time line of CPU {cpu}"));
            let stop = &stop;
            (cpu, process::scoped_thread(scope, &name, what, move || visit(cpu, watch, stop)))
        };
        let spinners: Vec<_> = cpus.iter().map(start).collect();
        wait();
        stop.store(true, Ordering::Relaxed);
        let end = |(cpu, spinner): (u32, Fact<ScopedJoinHandle<'_, Fact<Visit>>>)| {
            (cpu, spinner.and_then(|it| joined(it.join())))
        };
        let seen: Vec<(u32, Fact<Visit>)> = spinners.into_iter().map(end).collect();
        // What was counted has to be counted of the time that was watched.
        sampler.sample(&mut after);
        done.store(true, Ordering::Relaxed);
        let collected = match collecting {
            Ok(collecting) => joined(collecting.join()),
            Err(why) => (Err(why), None),
        };
        (seen, collected)
    });
    let (mut gaps, mut clocks) = (Vec::new(), Vec::new());
    for (cpu, visit) in seen {
        let (timeline, readings) = match visit {
            Ok(visit) => (visit.gaps, visit.clocks),
            Err(why) => (Err(why.clone()), Err(why)),
        };
        gaps.push((cpu, timeline));
        clocks.push((cpu, readings));
    }
    let (gaps, clocks) = (gaps.into_iter().collect(), clocks.into_iter().collect());
    Spun { before, after, gaps, clocks, events, tracer }
}

/// What a spinner saw.
struct Visit {
    gaps: Fact<Gaps>,
    clocks: Fact<Vec<ClockReading>>,
}

fn visit(cpu: u32, watch: Watch, stop: &AtomicBool) -> Fact<Visit> {
    pinned(cpu, || {
        let first = clock(Windows::SHORT);
        let gaps = host::probe::spin(watch, stop).and_then(|gaps| ran(cpu, gaps));
        let last = clock(Windows::SHORT);
        let readings: Vec<ClockReading> = [&first, &last].into_iter().flatten().copied().collect();
        let clocks = match first {
            Err(why) if readings.is_empty() => Err(why),
            _ => Ok(readings),
        };
        Visit { gaps, clocks }
    })
}

/// A spinner that the time was over for before its first reading has seen nothing, which is not the same as no gaps.
fn ran(cpu: u32, gaps: Gaps) -> Fact<Gaps> {
    if gaps.wall_ns() > 0 {
        return Ok(gaps);
    }
    let text = "the time was over before the first reading: making ready takes milliseconds, and longer where other \
                tasks want this CPU; give it longer (-d)";
    Err(Missing { what: format!("the time line of CPU {cpu}"), why: Why::Failed(text.to_owned()) })
}

/// Keeps what is traced until `done` is set.
fn collect(tracer: Fact<Tracer>, done: &AtomicBool) -> (Fact<Vec<Event>>, Option<Tracer>) {
    let mut tracer = match tracer {
        Ok(tracer) => tracer,
        Err(why) => return (Err(why), None),
    };
    let mut events = Vec::new();
    while !done.load(Ordering::Relaxed) && events.len() < MOST_EVENTS {
        if let Err(why) = tracer.wait(PATIENCE) {
            return (Err(why), Some(tracer));
        }
        tracer.drain(anchor().raw_ns, |event| events.push(*event));
    }
    tracer.drain(anchor().raw_ns, |event| events.push(*event));
    // An interrupt that this kernel is not built for has no tracepoint, and does not come either.
    let is_unseen = |why: &&Missing| !why.is_absence();
    let mut missing = tracer.refused().iter().map(|(_, why)| why).chain(tracer.lacking());
    if let Some(why) = missing.find(is_unseen) {
        return (Err(why.clone()), Some(tracer));
    }
    if events.len() >= MOST_EVENTS {
        let text = format!("more than {MOST_EVENTS} events: spin for a shorter time");
        let what = "trace of the spinning CPUs".into();
        return (Err(Missing { what, why: Why::Failed(text) }), Some(tracer));
    }
    (Ok(events), Some(tracer))
}

fn joined<T>(result: std::thread::Result<T>) -> T {
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
