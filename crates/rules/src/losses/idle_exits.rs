//! `idle-exits`: what going to sleep and waking up takes.
//!
//! Sources: sched:sched_switch and cpuidle's `time`; `usage` and `latency` of Documentation/admin-guide/pm/cpuidle.rst.
//! What the hardware takes to leave a state lies inside of cpuidle's time and cannot be told from sleep.

use crate::interval::Rise;
use crate::ledger::Books;
use crate::ledger::amount::Amount;
use crate::ledger::idle_time::{LOOP_NS, sleeps, usage};
use crate::loss::{Entry, Kind, Loss, Method};
use facts::counters::Family;
use facts::{Fact, Missing};

pub(super) const LOSS: Loss = Loss {
    id: "idle-exits",
    title: "entering and leaving idle states",
    kind: Kind::Lost,
    help: "\
## What it is
The time that the idle loop takes around each sleep, and that the hardware takes to wake up.

## How it is measured
With traced switches: the idle task's time that is neither cpuidle's sleep nor an interrupt. Without them only a limit is
known, how often each state was left times its `latency`, the worst case by the driver's table. A limit is shown and not
entered: it would hide what is unexplained. The hardware's part lies inside of the sleep and stays in `idle`. Where idle
time is not cpuidle's, the loop is part of it.

## What mends it
Shallower idle states, for as long as latency matters: a limit in /dev/cpu_dma_latency, or tuned's profile
latency-performance. It costs power, and turbo of the other cores.
",
    checks: &["slow-idle-governor"],
    of_parts: &[],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    if books.evidence.spun.get(books.cpu).is_some() {
        return Err(Missing::not_here(
            "time of the idle loop",
            "a spinner keeps the CPU from idling",
        ));
    }
    if let Ok(entry) = traced(books) {
        return Ok(vec![entry]);
    }
    let ns = limit(books)?;
    Ok(vec![Entry {
        part: String::new(),
        ns: 0,
        method: Method::Bound,
        source: "cpuidle usage x latency",
        uncertainty_ns: ns,
        interrupted_ns: None,
        party: None,
    }])
}

/// The idle task's time around its sleeps.
fn traced(books: &Books<'_>) -> Fact<Entry> {
    const SOURCE: &str = "idle task's time by sched:sched_switch less cpuidle time";
    let totals = books.evidence.traced_on(books.cpu)?;
    let interval = &books.evidence.interval;
    let slept = sleeps(interval, books.cpu, books.wall_ns)?;
    let loops = usage(interval, books.cpu)?;
    if books.idle_holds_loop || totals.idle_ns == 0 || loops == 0 {
        return Err(Missing::not_here("time of the idle loop alone", "idle time is not cpuidle's"));
    }
    let in_sleeps =
        totals.causes.values().fold(0, |sum: u64, it| sum.saturating_add(it.in_idle_ns));
    let interrupted = if slept.holds_interrupts { in_sleeps } else { 0 };
    let slept = slept.amount.without(interrupted);
    let rise = Rise { by: totals.idle_ns, over_ns: totals.wall_ns };
    let mut amount = Amount::of(rise, 1, books.wall_ns, SOURCE).without(slept.ns);
    amount.method = Method::Tracepoint;
    amount.uncertainty_ns = amount.uncertainty_ns.saturating_add(slept.uncertainty_ns);
    if amount.ns > loops.saturating_mul(LOOP_NS).saturating_add(slept.uncertainty_ns) {
        let found = format!("{} ns around {loops} sleeps", amount.ns);
        return Err(Missing::malformed(SOURCE, &found, "sleeps that were written when they ended"));
    }
    Ok(amount.entry("", None))
}

/// How often each state was left, times its latency.
fn limit(books: &Books<'_>) -> Fact<u64> {
    let interval = &books.evidence.interval;
    let tables = interval.host.cpuidle.tables.as_ref()?;
    let states = tables.iter().find(|it| it.cpus.contains(books.cpu));
    let states =
        states.ok_or_else(|| Missing::absent(format!("idle states of CPU {}", books.cpu)))?;
    let mut sum = 0u64;
    for state in &states.states {
        let rise = interval.rise(Family::IdleUsage, books.cpu, &state.name)?;
        let latency_ns = state.latency.as_ref()?.saturating_mul(1000);
        sum = sum.saturating_add(rise.by.saturating_mul(latency_ns));
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, loss, replaced, unexplained, untraced, without};

    #[test]
    fn the_idle_tasks_time_around_its_sleeps_is_the_loop() {
        assert_eq!(loss("idle-exits", SECOND), "10.0 ms by tracepoint");
    }

    #[test]
    fn without_a_trace_only_a_limit_is_known_and_nothing_is_entered() {
        assert_eq!(loss("idle-exits", &untraced()), "0.0 ms ±152.0 by bound");
    }

    #[test]
    fn without_idle_states_it_is_unknown() {
        let blind = without(&without(SECOND, "IdleTime"), "IdleUsage");
        assert_eq!(
            loss("idle-exits", &blind),
            "unknown: /sys/devices/system/cpu/cpuN/cpuidle is not in this copy of the host"
        );
        assert_eq!(unexplained(&blind), "0.000");
    }

    #[test]
    fn a_sleep_that_was_not_written_is_no_time_of_the_loop() {
        let asleep = without(SECOND, "CpuTimes");
        let asleep = replaced(&asleep, &[("1 0 0 985000", "1 0 0 100")]);
        assert_eq!(loss("idle-exits", &asleep), "5.0 ms ±100.0 by bound");
    }
}
