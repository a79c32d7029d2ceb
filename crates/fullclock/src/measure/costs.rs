//! What an interrupt costs here, for books that count interrupts and may not trace them.

use facts::counters::{Counters, Family};
use facts::probe::EventCosts;
use facts::{CpuSet, Fact, HostView, Missing};
use host::Live;
use host::counters::{Sampler, Wanted};
use host::probe::{Watch, pinned, spin};
use rules::interval::Interval;
use rules::spin::{Counts, costs_by_counts};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Dozens of ticks, whatever HZ is.
const LENGTH: Duration = Duration::from_millis(200);
/// More gaps than that many milliseconds have.
const ROOM: usize = 20_000;
/// CPUs that are tried: a busy one lets nobody watch it in peace.
const MOST_TRIES: usize = 2;

/// Occupies one of `cpus` for a moment and watches what interrupts it.
pub(crate) fn costs(host: &HostView, cpus: &CpuSet) -> Fact<EventCosts> {
    let mut outcome = Err(Missing::not_collected("the cost of an event"));
    for cpu in cpus.iter().take(MOST_TRIES) {
        outcome = on(host, cpu);
        if outcome.as_ref().is_ok_and(|costs| costs.tick.is_ok()) {
            break;
        }
    }
    outcome
}

fn on(host: &HostView, cpu: u32) -> Fact<EventCosts> {
    let families = vec![Family::Interrupts, Family::CpuTimes, Family::Clocks];
    let wanted =
        Wanted { families, tasks: None, groups: false, groups_of: Vec::new(), wake: false };
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
    Ok(costs_by_counts(&gaps, &Counts::between(&interval, cpu, gaps.thread)))
}
