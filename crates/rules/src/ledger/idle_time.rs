//! How long a CPU had nothing to do, by the best source that has it.
//!
//! Sources: cpuidle's `time` (Documentation/admin-guide/pm/cpuidle.rst), in microseconds and written on *leaving* a
//! state; `idle_sleeptime` and `iowait_sleeptime` of /proc/timer_list (kernel/time/tick-sched.c), in nanoseconds and
//! without the sleep that goes on; the idle task's traced time; `idle` and `iowait` of /proc/stat, in steps of 10 ms,
//! which do count the sleep that goes on (get_cpu_idle_time_us). So /proc/stat checks the first two: a CPU that slept
//! through an end of the interval shows there, and nowhere else.

use super::amount::{Amount, Method};
use crate::interval::{Delta, Interval};
use facts::counters::Family;
use facts::trace::CpuTotals;
use facts::{Fact, HostView, Missing, USER_TICK_NS};

/// No idle loop takes longer than this around one sleep. What is missing beyond it is a sleep that was not written
/// when a sample was taken.
pub(crate) const LOOP_NS: u64 = 20_000;

/// The time one CPU was idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdleTime {
    pub(crate) amount: Amount,
    /// Whether interrupts that came while it slept are in it.
    pub(crate) holds_interrupts: bool,
    /// Whether the idle loop around the sleep is in it too.
    pub(crate) holds_loop: bool,
}

/// The time `cpu` was idle in `wall_ns`.
pub(crate) fn idle_time(
    interval: &Interval<'_>,
    traced: &Fact<&CpuTotals>,
    cpu: u32,
    wall_ns: u64,
) -> Fact<IdleTime> {
    let coarse = stat(interval, cpu, wall_ns);
    let checked = |idle: IdleTime| match &coarse {
        Ok(stat) if !agree(idle, *stat, usage(interval, cpu)) => None,
        _ => Some(idle),
    };
    let by_state = sleeps(interval, cpu, wall_ns);
    if let Some(idle) = by_state.clone().ok().and_then(checked) {
        return Ok(idle);
    }
    if let Some(idle) = tickless(interval, cpu, wall_ns).ok().and_then(checked) {
        return Ok(idle);
    }
    if let Ok(totals) = traced
        && let Some(idle) = in_idle_task(totals, wall_ns)
    {
        return Ok(idle);
    }
    coarse.map_err(|stat| by_state.err().filter(|it| !it.is_absence()).unwrap_or(stat))
}

/// cpuidle's time in all states.
pub(crate) fn sleeps(interval: &Interval<'_>, cpu: u32, wall_ns: u64) -> Fact<IdleTime> {
    const SOURCE: &str = "/sys/devices/system/cpu/cpuN/cpuidle/stateM/time";
    let amount = row_sum(interval, Family::IdleTime, cpu, |_| true)?;
    let amount = Amount::of(amount, 1000, wall_ns, SOURCE).within(wall_ns)?;
    let holds_interrupts = sleeps_in_halt(interval.host, cpu);
    Ok(IdleTime { amount, holds_interrupts, holds_loop: false })
}

/// How often the CPU went to sleep.
pub(crate) fn usage(interval: &Interval<'_>, cpu: u32) -> Fact<u64> {
    Ok(row_sum(interval, Family::IdleUsage, cpu, |_| true)?.by)
}

/// The sum of the deltas of all columns that `wanted` takes.
pub(crate) fn row_sum(
    interval: &Interval<'_>,
    family: Family,
    cpu: u32,
    wanted: impl Fn(&str) -> bool,
) -> Fact<Delta> {
    let (_, after) = interval.tables(family)?;
    let mut sum: Option<Delta> = None;
    for column in after.columns().iter().filter(|it| wanted(it)) {
        let delta = interval.delta(family, cpu, column)?;
        let by = sum.map_or(0, |it| it.by).saturating_add(delta.by);
        sum = Some(Delta { by, ..delta });
    }
    sum.ok_or_else(|| Missing::absent(family.source()))
}

fn tickless(interval: &Interval<'_>, cpu: u32, wall_ns: u64) -> Fact<IdleTime> {
    const SOURCE: &str = "/proc/timer_list idle_sleeptime";
    let delta = row_sum(interval, Family::IdleSleep, cpu, |_| true)?;
    let amount = Amount::of(delta, 1, wall_ns, SOURCE).within(wall_ns)?;
    // The kernel stops this clock on entry to an interrupt (tick_nohz_irq_enter).
    Ok(IdleTime { amount, holds_interrupts: false, holds_loop: true })
}

fn in_idle_task(totals: &CpuTotals, wall_ns: u64) -> Option<IdleTime> {
    if !totals.shows_switches() {
        return None;
    }
    let delta = Delta { by: totals.idle_ns, over_ns: totals.wall_ns };
    let mut amount = Amount::of(delta, 1, wall_ns, "tracepoint sched:sched_switch, the idle task");
    amount.method = Method::Tracepoint;
    amount.uncertainty_ns = amount.uncertainty_ns.saturating_add(totals.unknown_ns);
    Some(IdleTime { amount, holds_interrupts: false, holds_loop: true })
}

fn stat(interval: &Interval<'_>, cpu: u32, wall_ns: u64) -> Fact<IdleTime> {
    const SOURCE: &str = "/proc/stat idle and iowait";
    let idle = interval.delta(Family::CpuTimes, cpu, "idle")?;
    let idle = Amount::of(idle, USER_TICK_NS, wall_ns, SOURCE);
    // The kernel's documents call `iowait` unreliable, and it may go backwards (proc_stat(5)).
    let amount = match interval.delta(Family::CpuTimes, cpu, "iowait") {
        Ok(delta) => idle.plus(Amount::of(delta, USER_TICK_NS, wall_ns, SOURCE)),
        Err(_) => idle,
    }
    .within(wall_ns)?;
    Ok(IdleTime { amount, holds_interrupts: false, holds_loop: true })
}

/// Whether a fine count and a coarse one can both be true.
fn agree(fine: IdleTime, coarse: IdleTime, usage: Fact<u64>) -> bool {
    let in_loops = if fine.holds_loop { 0 } else { usage.unwrap_or(0).saturating_mul(LOOP_NS) };
    let apart = fine.amount.ns.abs_diff(coarse.amount.ns);
    let slack = fine.amount.uncertainty_ns.saturating_add(coarse.amount.uncertainty_ns);
    apart <= slack.saturating_add(in_loops)
}

/// Whether the CPU sleeps with interrupts open, so that their handlers run inside of what cpuidle counts: HLT does
/// (acpi_safe_halt, default_idle), MWAIT returns before they do.
fn sleeps_in_halt(host: &HostView, cpu: u32) -> bool {
    let tables = host.cpuidle.tables.as_deref().unwrap_or_default();
    let states = tables.iter().find(|it| it.cpus.contains(cpu)).map(|it| it.states.as_slice());
    let is_mwait = |description: &Fact<String>| {
        description.as_ref().is_ok_and(|it| it.to_uppercase().contains("MWAIT"))
    };
    !states.unwrap_or_default().iter().any(|it| is_mwait(&it.description))
}
