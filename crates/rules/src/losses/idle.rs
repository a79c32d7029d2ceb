//! Idle time, and what entering and leaving idle states takes.
//!
//! See `ledger::idle_time` for the sources, and which is believed when.

use crate::interval::Delta;
use crate::ledger::amount::Amount;
use crate::ledger::books::Books;
use crate::ledger::idle_time::{LOOP_NS, sleeps, usage};
use crate::loss::{Entry, Kind, Loss, Method};
use facts::counters::Family;
use facts::{Fact, Missing};

/// Time in which a CPU had nothing to do.
pub(super) const IDLE: Loss = Loss {
    id: "idle",
    title: "idle",
    kind: Kind::Idle,
    help: "\
## What it is
Time in which no task wanted the CPU. Nothing is lost.

## How it is measured
By cpuidle's `time` of all states, POLL included; else by `idle_sleeptime` and `iowait_sleeptime` of
/proc/timer_list; else by the traced time of the idle task; else by `idle` and `iowait` of /proc/stat, in steps of
10 ms. The first two leave out a sleep that goes on while they are read, and are given up where /proc/stat, which
counts it, contradicts them. Interrupts that came in a sleep, idle time that a quota forced, and idle time that a thread
of the kernel forces to cool the machine are entered elsewhere.

## What fixes it
Nothing: it is capacity to spare. Tasks that wait although CPUs are idle are shown beside the ledger, with `--pid`.
",
    checks: &[],
    of_parts: &[],
    measure: idle,
};

fn idle(books: &Books<'_>) -> Fact<Vec<Entry>> {
    Ok(vec![books.idle.clone()?.entry("", None)])
}

/// What going to sleep and waking up takes.
///
/// Sources: sched:sched_switch and cpuidle's `time`; `usage` and `latency` of Documentation/admin-guide/pm/cpuidle.rst. The
/// time that the hardware takes to leave a state lies inside cpuidle's time and cannot be separated from sleep.
pub(super) const IDLE_EXITS: Loss = Loss {
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

## What fixes it
Shallower idle states, for as long as latency matters: a limit in /dev/cpu_dma_latency, or tuned's profile
latency-performance. It costs power, and turbo of the other cores.
",
    checks: &["slow-idle-governor"],
    of_parts: &[],
    measure: idle_exits,
};

fn idle_exits(books: &Books<'_>) -> Fact<Vec<Entry>> {
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
    let delta = Delta { by: totals.idle_ns, over_ns: totals.wall_ns };
    let mut amount = Amount::of(delta, 1, books.wall_ns, SOURCE).without(slept.ns);
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
        let delta = interval.delta(Family::IdleUsage, books.cpu, &state.name)?;
        let latency_ns = state.latency.as_ref()?.saturating_mul(1000);
        sum = sum.saturating_add(delta.by.saturating_mul(latency_ns));
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, loss, replaced, unexplained, untraced, without};

    #[test]
    fn a_sleep_that_was_not_written_shows_in_the_kernels_own_count() {
        let asleep = replaced(&untraced(), &[("1 0 0 985000", "1 0 0 100")]);
        assert_eq!(loss("idle", &asleep), "1295.0 ms ±20.0 by counter");
    }

    #[test]
    fn a_trace_is_finer_than_the_kernels_own_count() {
        let asleep = replaced(SECOND, &[("1 0 0 985000", "1 0 0 100")]);
        assert_eq!(loss("idle", &asleep), "1295.0 ms by tracepoint");
    }

    #[test]
    fn more_sleep_than_time_is_no_sleep() {
        let endless = without(&untraced(), "CpuTimes");
        let endless = replaced(&endless, &[("0 5000 100000 200000", "0 5000 100000 2000000")]);
        assert_eq!(loss("idle", &endless), "985.0 ms by counter");
        assert_eq!(unexplained(&endless), "327.000");
    }

    #[test]
    fn interrupts_that_came_in_a_halt_are_not_idle() {
        let halting = replaced(SECOND, &[("MWAIT 0x00", "ACPI HLT"), ("MWAIT 0x20", "ACPI HLT")]);
        assert_eq!(loss("idle", &halting), "1277.0 ms by counter");
        assert_eq!(unexplained(&halting), "0.000");
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
