//! What an interrupt costs here: all of it for books that count interrupts and may not trace them, its edges for books
//! that trace what lies between.
//!
//! A thread of ours occupies one CPU for a moment, before the interval that is accounted for, and watches what
//! interrupts it. It keeps off CPUs that somebody has cleared of other work.

use facts::counters::{Counters, Family};
use facts::probe::{EventCost, EventCosts};
use facts::{CpuSet, Fact, HostView, Missing};
use host::Live;
use host::counters::{Sampler, Wanted};
use host::perf::Tracer;
use host::probe::{Timers, Watch, allowed, anchor, called, pinned, spin};
use rules::interval::Interval;
use rules::spin::{Counts, call_cost, costs_by_counts, join, tick};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Dozens of ticks, whatever HZ is.
const LENGTH: Duration = Duration::from_millis(200);
/// More gaps than that many milliseconds have.
const ROOM: usize = 20_000;
/// On a CPU that others use as well, the thread sees a small part of them.
const TIMERS: u32 = 200;
/// As long again for interrupts that other CPUs send, which on a quiet machine do not come by themselves.
const CALLED: Duration = Duration::from_millis(50);
const CALLS: u32 = 200;
/// CPUs that are tried: a busy one lets nobody watch it in peace.
const MOST_TRIES: usize = 2;

/// What an interrupt takes on one of `cpus`.
pub fn costs(host: &HostView, cpus: &CpuSet) -> Fact<EventCosts> {
    let mut outcome = Err(nowhere());
    for cpu in open_to_us(host, cpus)?.iter().take(MOST_TRIES) {
        outcome = costs_on(host, cpu);
        if outcome.as_ref().is_ok_and(|costs| costs.tick.is_ok()) {
            break;
        }
    }
    outcome
}

/// What the kernel takes on the way into an interrupt that `tracer` shows and out of it, on one of its CPUs. What was
/// traced until then is gone.
pub fn edge(host: &HostView, tracer: &mut Tracer) -> Fact<EventCost> {
    let mut outcome = Err(nowhere());
    for cpu in open_to_us(host, &tracer.cpus())?.iter().take(MOST_TRIES) {
        outcome = edge_on(cpu, tracer);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

/// Those of `cpus` that this process may use and nobody has cleared of other work.
pub(crate) fn open_to_us(host: &HostView, cpus: &CpuSet) -> Fact<CpuSet> {
    let cleared = host.isolation.kept_free().or_else(|why| match why.is_absence() {
        true => Ok(CpuSet::default()),
        false => Err(why),
    })?;
    Ok(cpus.and(&allowed()?).minus(&cleared))
}

fn nowhere() -> Missing {
    Missing::not_here("the cost of an interrupt", "no CPU may be occupied to measure it")
}

fn edge_on(cpu: u32, tracer: &mut Tracer) -> Fact<EventCost> {
    let watch = Watch { length: LENGTH, room: ROOM };
    tracer.drain(anchor().raw_ns, |_| ());
    let gaps = pinned(cpu, || {
        let _timers = Timers::set(TIMERS, LENGTH / TIMERS);
        spin(watch, &AtomicBool::new(false))
    })??;
    let mut events = Vec::new();
    tracer.drain(anchor().raw_ns, |event| {
        if event.cpu == cpu {
            events.push(*event);
        }
    });
    rules::spin::edge(&[join(&gaps, &events)])
}

fn costs_on(host: &HostView, cpu: u32) -> Fact<EventCosts> {
    let families = vec![Family::Interrupts, Family::CpuTimes, Family::Clocks];
    let wanted = Wanted::only(families);
    let mut sampler = Sampler::open(Live::this_machine(), host, wanted);
    let (mut before, mut after) = (Counters::unread(), Counters::unread());
    let watch = Watch { length: LENGTH, room: ROOM };
    let gaps = pinned(cpu, || {
        sampler.sample(&mut before);
        let gaps = spin(watch, &AtomicBool::new(false));
        sampler.sample(&mut after);
        gaps
    })??;
    let interval = Interval { host, before: &before, after: &after };
    let counts = Counts::between(&interval, cpu, gaps.thread);
    Ok(costs_by_counts(&gaps, &counts, tick(&interval), call_on(host, cpu)))
}

/// What an interrupt takes that one of the other CPUs sends which are open to us.
fn call_on(host: &HostView, cpu: u32) -> Fact<EventCost> {
    let watch = Watch { length: CALLED, room: ROOM };
    let work = || spin(watch, &AtomicBool::new(false));
    let others = open_to_us(host, &allowed()?)?.minus(&[cpu].into_iter().collect());
    let (gaps, calls) = pinned(cpu, || called(&others, CALLED / CALLS, work))??;
    call_cost(&gaps?, &calls)
}
