//! `tick-stops`: how often the kernel looked whether the tick can stop, by what it found.
//!
//! Sources: tracepoint timer:tick_stop, include/trace/events/timer.h; check_tick_dependency in
//! kernel/time/tick-sched.c reports the first dependency that it finds, not all of them.

use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit};
use facts::Fact;
use facts::counters::Family;

pub(super) const METRIC: Metric = Metric {
    id: "tick-stops",
    title: "tick stopped or kept, by reason",
    column: "TStop",
    unit: Unit::PerSecond,
    kind: Kind::Sum,
    families: &[Family::TickStops],
    tasks: false,
    help: "A part for each outcome of the kernel's attempts to stop the tick of a CPU: `none` is a tick that stopped, \
           also that of a CPU that went idle; the others name what kept it: `posix_timer`, `perf_events`, \
           `sched`, `clock_unstable`, `rcu`, `rcu_exp`. The kernel names the first that it finds. Counted only \
           where tracepoints may be opened, and only when asked for: `fullclock tick` says more.",
    measure,
};

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::TickStops)?;
    Ok(Series::rates(&rows, rows.moved_columns()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    const BEFORE: &str = "at 0\nTickStops none sched perf_events\n0 5 5 5\n1 5 5 5\n";

    #[test]
    fn what_kept_the_tick_is_named() {
        let after = "at 1000\nTickStops none sched perf_events\n0 30 5 5\n1 5 5 1005\n";
        assert_eq!(
            measured(&METRIC, BEFORE, after),
            "none 0: 25.00\nnone 1: 0.00\nperf_events 0: 0.00\nperf_events 1: 1000.00"
        );
    }

    #[test]
    fn a_count_that_goes_backwards_is_no_rate() {
        let after = "at 1000\nTickStops none sched perf_events\n0 5 4 5\n1 5 5 5\n";
        assert_eq!(
            measured(&METRIC, BEFORE, after),
            "sched 0: tracepoint timer:tick_stop (sched) holds \"4 after 5\", expected a counter that does not go backwards\nsched 1: 0.00"
        );
    }

    #[test]
    fn without_the_tracepoint_there_is_a_reason() {
        let expected = "tracepoint timer:tick_stop is not in this copy of the host";
        assert_eq!(measured(&METRIC, "at 0\n", "at 1000\n"), expected);
    }
}
