//! The tick: interrupts of each CPU's own timer, and what kept it when the kernel tried to stop it.

use crate::interval::{Column, Interval, Rows};
use crate::metric::{Kind, Limits, Metric, Series, Tasks, Unit, Values, each};
use facts::Fact;
use facts::counters::Family;
use facts::system::interrupts::may_be_tick_timer;

/// Interrupts of the CPU's own timer.
///
/// Source: /proc/interrupts, `LOC` on x86 (arch/x86/kernel/irq.c) and POWER, the architecture's timer elsewhere.
pub(super) const TICKS: Metric = Metric {
    id: "ticks",
    title: "interrupts of the CPU's own timer",
    column: "Tick/s",
    unit: Unit::PerSecond,
    kind: Kind::Sum,
    limits: Limits::None,
    families: &[Family::Interrupts],
    tasks: Tasks::None,
    help: "How often the timer of the CPU itself went off: `LOC` in /proc/interrupts. A busy CPU with its tick has \
           CONFIG_HZ a second, 100 to 1000; a busy one of `nohz_full=` none, or one before Linux 4.17. Timers that \
           programs set (sleeps of microseconds, timer_create) count here too, and on an idle CPU little else does.",
    measure: ticks,
};

fn ticks(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::Interrupts)?;
    let timer = timer(&rows)?;
    let rates = each(&rows.deltas(timer), |delta| Ok(delta.per_second()));
    Ok(Series::whole(Values::Cpus(rates)))
}

/// The column of the timer that ticks; the busiest where the name leaves several.
pub(crate) fn timer(rows: &Rows) -> Fact<Column> {
    let timers = rows.columns().into_iter().filter(|(name, _)| may_be_tick_timer(name));
    match timers.max_by_key(|(name, column)| (*name == "LOC", rows.total(*column))) {
        Some((_, column)) => Ok(column),
        None => rows.column("LOC"),
    }
}

/// How often the kernel checked whether the tick can stop, by what it found.
///
/// Sources: tracepoint timer:tick_stop, include/trace/events/timer.h; check_tick_dependency in kernel/time/tick-sched.c
/// reports the first dependency that it finds, not all of them.
pub(super) const TICK_STOPS: Metric = Metric {
    id: "tick-stops",
    title: "tick stopped or kept, by reason",
    column: "TStop",
    unit: Unit::PerSecond,
    kind: Kind::Sum,
    limits: Limits::None,
    families: &[Family::TickStops],
    tasks: Tasks::None,
    help: "A part for each outcome of the kernel's attempts to stop the tick of a CPU: `none` is a tick that stopped, \
           also that of a CPU that went idle; the others name what kept it: `posix_timer`, `perf_events`, \
           `sched`, `clock_unstable`, `rcu`, `rcu_exp`. The kernel names the first that it finds. Counted only \
           where tracepoints may be opened, and only on request: `fullclock tick` says more.",
    measure: tick_stops,
};

fn tick_stops(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::TickStops)?;
    Ok(Series::rates(&rows, rows.moved_columns()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    #[test]
    fn the_local_timer_ticks() {
        let before = "at 0\nInterrupts 0+timer LOC RES\n0 9 100 5\n1 9 100 5\n";
        let after = "at 2000\nInterrupts 0+timer LOC RES\n0 99 600 5\n1 9 102 5\n";
        assert_eq!(measured(&TICKS, before, after), "0: 250.00\n1: 1.00");
    }

    #[test]
    fn elsewhere_it_is_the_busiest_timer_of_the_architecture() {
        let before = "at 0\nInterrupts 10+arch_timer 11+arch_timer 30+eth0\n0 0 100 0\n";
        let after = "at 1000\nInterrupts 10+arch_timer 11+arch_timer 30+eth0\n0 0 350 900\n";
        assert_eq!(measured(&TICKS, before, after), "0: 250.00");
    }

    #[test]
    fn without_a_timer_there_is_a_reason() {
        let sample = |ms| format!("at {ms}\nInterrupts RES\n0 5\n");
        assert_eq!(measured(&TICKS, &sample(0), &sample(1000)), "LOC does not exist");
    }

    const BEFORE: &str = "at 0\nTickStops none sched perf_events\n0 5 5 5\n1 5 5 5\n";

    #[test]
    fn what_kept_the_tick_is_named() {
        let after = "at 1000\nTickStops none sched perf_events\n0 30 5 5\n1 5 5 1005\n";
        assert_eq!(
            measured(&TICK_STOPS, BEFORE, after),
            "none 0: 25.00\nnone 1: 0.00\nperf_events 0: 0.00\nperf_events 1: 1000.00"
        );
    }
}
