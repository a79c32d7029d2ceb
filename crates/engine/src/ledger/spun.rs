//! How much of each CPU one task could get: the ledger of CPUs that are occupied.

use super::{Closed, DEFAULT, Task, untraced};
use crate::interrupt::Interrupt;
use crate::measure::{self, Gauge, choice, spin};
use facts::probe::Gaps;
use facts::trace::Event;
use facts::{Fact, HostView, Missing};
use host::Live;
use host::counters::{Sampler, Wanted};
use rules::interval::Interval;
use rules::ledger::{Evidence, Spun, close};
use rules::spin::{Counts, GapBooks, explain};

/// Occupies the CPUs of `task`, and closes the ledger of that. Of processes and commands it takes no notice.
pub fn spun(host: &HostView, task: &Task, interrupt: &Interrupt, gauge: &Gauge<'_>) -> Closed {
    let cpus = &task.cpus;
    let source = Live::this_machine();
    let tracer = choice::tracer(&source, host, task.trace, cpus, interrupt);
    let mut sampler = Sampler::open(Live::this_machine(), host, Wanted::ledger());
    let length = task.duration.unwrap_or(DEFAULT);
    let seen = spin::spin(cpus, tracer, &mut sampler, length, || {
        measure::wait(interrupt, length, gauge);
    });
    let interval = Interval { host, before: &seen.before, after: &seen.after };
    let events = seen.events.as_ref();
    let spun = |(cpu, gaps): (u32, &Fact<Gaps>)| {
        let of =
            |gaps: &Gaps| Spun { wall_ns: gaps.wall_ns(), gaps: books(&interval, gaps, events) };
        (cpu, gaps.as_ref().map(of).map_err(Missing::clone))
    };
    let audit = crate::advised::audit(&source, host);
    let host_after = host::view(&source);
    let evidence = Evidence {
        cpus: cpus.clone(),
        clocks: seen.clocks.clone(),
        observer: std::process::id(),
        spun: seen.gaps.iter().map(spun).collect(),
        host_after: Some(&host_after),
        findings: &audit.findings,
        ..Evidence::of(interval)
    };
    let mut ledger = close(&evidence);
    ledger.notes.extend(untraced(task.trace, events.err()));
    Closed { ledger, status: None, _tracer: seen.tracer }
}

/// Who had the CPU in the gaps of its spinner: by what was traced, or else by what was counted.
fn books(interval: &Interval<'_>, gaps: &Gaps, events: Result<&Vec<Event>, &Missing>) -> GapBooks {
    let counts = Counts::between(interval, gaps.cpu, gaps.thread);
    let is_guest = interval.host.platform.is_guest();
    explain(gaps, &counts, events.map(Vec::as_slice), is_guest).books
}
