//! `stopped-clock`: time in which tasks had a CPU whose clock stood still.
//!
//! Sources: Intel SDM vol. 3B, "Hardware Feedback" and "Software Controlled Clock Modulation". Processors differ in
//! whether MPERF counts while the clock is stopped; where it does, only the register of clock modulation tells a stopped
//! clock from a slow one.

use crate::ledger::Books;
use crate::ledger::amount::signed;
use crate::ledger::tasks::Owner;
use crate::ledger::work::{Work, work};
use crate::loss::{Entry, Kind, Loss, Method, Party};
use facts::counters::Family;
use facts::cpu::cooling;
use facts::msr::intel::CLOCK_MODULATION;
use facts::{Fact, HostView};

pub(super) const LOSS: Loss = Loss {
    id: "stopped-clock",
    title: "stopped clock",
    kind: Kind::Lost,
    help: "\
## What it is
Time in which a task had the CPU, for the kernel, and the CPU's clock stood still: clock modulation, T-states, idle time
that is forced on a CPU to cool it.

## How it is measured
By what MPERF lacks of the time that the CPU was busy, beyond 1 %, by which the two clocks may differ. Which evidence
names it: MSR 0x19A (clock modulation), a cooling device (T-states), the count of SMIs. Some processors go on counting
MPERF while the clock is stopped: there the register alone names it, and its duty says how much of the slow clock it
is. The time of idle_inject threads is idle time by force.

## What mends it
`fullclock explain clock-modulation`, `forced-idle` and `smi-storm`. Find out who stopped the clock before undoing it: the
machine may be too hot.
",
    checks: &["clock-modulation", "forced-idle", "smi-storm", "known-bad-firmware"],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let forced = forced_idle(books);
    match work(books).and_then(|work| known(books, &work)) {
        Ok(stopped) => Ok(forced.into_iter().chain([stopped]).collect()),
        Err(missing) if forced.is_empty() => Err(missing),
        Err(_) => Ok(forced),
    }
}

/// What is known of the clock, where something is: MPERF, or the register.
fn known(books: &Books<'_>, work: &Work) -> Fact<Entry> {
    let clock = books.clock.as_ref()?;
    if clock.counted_ns.is_none() {
        books
            .evidence
            .interval
            .host
            .msrs
            .of(&CLOCK_MODULATION)?
            .get(books.cpu)
            .cloned()
            .transpose()?;
    }
    let (part, party) = if work.modulated_ns > 0 {
        ("clock modulation (MSR 0x19A)", None)
    } else if work.uncounted_ns > 0 {
        name(books)
    } else {
        ("", None)
    };
    let is_register = work.modulated_ns > 0;
    Ok(Entry {
        part: part.to_owned(),
        ns: signed(work.uncounted_ns.saturating_add(work.modulated_ns)),
        method: if is_register { clock.method.max(Method::Derived) } else { clock.method },
        source: if is_register { "MSR 0x19A duty" } else { "busy time less MPERF / TSC rate" },
        uncertainty_ns: if is_register { work.uncertainty_ns } else { work.stop_uncertainty_ns },
        party,
    })
}

/// What names time that MPERF did not count.
fn name(books: &Books<'_>) -> (&'static str, Option<Party>) {
    let interval = &books.evidence.interval;
    if crate::ledger::work::duty(books).is_some() {
        ("clock modulation (MSR 0x19A)", None)
    } else if is_in_t_state(interval.host) {
        ("T-states of a cooling device", Some(Party::OperatingSystem))
    } else if interval.rise(Family::Clocks, books.cpu, "smi").is_ok_and(|it| it.by > 0) {
        ("SMIs", Some(Party::Firmware))
    } else {
        ("cause not visible", None)
    }
}

/// A state above 3 is a T-state for certain, and any state is where there is no cpufreq
/// (drivers/acpi/processor_thermal.c).
fn is_in_t_state(host: &HostView) -> bool {
    let has_cpufreq = host.cpufreq.policies.as_ref().is_ok_and(|it| !it.is_empty());
    let steps = if has_cpufreq { 3 } else { 0 };
    let devices = host.cooling.as_deref().unwrap_or_default();
    let processors = devices.iter().filter(|it| it.kind == cooling::Kind::Processor);
    processors.filter_map(|it| it.level().ok()).any(|level| level > steps)
}

fn forced_idle(books: &Books<'_>) -> Vec<Entry> {
    let Ok(tasks) = &books.tasks else { return Vec::new() };
    let entries = tasks.entries(Owner::ForcedIdle).into_iter();
    let named = |entry| Entry {
        part: "forced idle (idle_inject)".to_owned(),
        party: Some(Party::OperatingSystem),
        ..entry
    };
    entries.map(named).collect()
}
