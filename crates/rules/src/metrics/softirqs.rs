//! `softirqs`: work that interrupts put off, by kind.
//!
//! Source: /proc/softirqs (fs/proc/softirqs.c); the kinds are those of include/linux/interrupt.h.

use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit};
use facts::Fact;
use facts::counters::Family;

pub(super) const METRIC: Metric = Metric {
    id: "softirqs",
    title: "softirqs by kind",
    column: "SIRQ",
    unit: Unit::PerSecond,
    kind: Kind::Sum,
    families: &[Family::Softirqs],
    tasks: false,
    help: "A part for each kind of /proc/softirqs that ran at least once in the interval: `NET_RX` received packets, \
           `BLOCK` finished I/O, `TIMER`, `SCHED`, `RCU`. Counted, not timed: one may take a microsecond or \
           milliseconds.",
    measure,
};

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::Softirqs)?;
    Ok(Series::rates(&rows, rows.moved_columns()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    const BEFORE: &str = "at 0\nSoftirqs HI NET_RX RCU\n0 5 5 5\n1 5 5 5\n";

    #[test]
    fn kinds_that_ran_have_rates() {
        let after = "at 500\nSoftirqs HI NET_RX RCU\n0 5 55 5\n1 5 5 5\n";
        assert_eq!(measured(&METRIC, BEFORE, after), "NET_RX 0: 100.00\nNET_RX 1: 0.00");
    }

    #[test]
    fn a_cpu_that_came_back_with_lower_counts_has_no_rate() {
        let after = "at 500\nSoftirqs HI NET_RX RCU\n0 5 55 5\n1 5 1 5\n";
        assert_eq!(
            measured(&METRIC, BEFORE, after),
            "NET_RX 0: 100.00\nNET_RX 1: /proc/softirqs (NET_RX) holds \"1 after 5\", expected a counter that does not go backwards"
        );
    }

    #[test]
    fn without_the_table_there_is_a_reason() {
        let expected = "/proc/softirqs is not in this copy of the host";
        assert_eq!(measured(&METRIC, "at 0\n", "at 500\n"), expected);
    }
}
