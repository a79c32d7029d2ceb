//! `context-switches`: how often CPUs went from one task to another.
//!
//! Sources: the software event context-switches (perf_event_open(2)) of each CPU; else `ctxt` of /proc/stat,
//! which is of all CPUs together.

use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit, Values, each};
use facts::counters::Family;
use facts::{Fact, Missing};

pub(super) const METRIC: Metric = Metric {
    id: "context-switches",
    title: "switches from task to task",
    column: "Csw/s",
    unit: Unit::PerSecond,
    kind: Kind::Sum,
    families: &[Family::ContextSwitches, Family::Totals],
    tasks: false,
    help: "How often the scheduler put another task on the CPU, the idle task included. Of each CPU where perf events \
           may be read; else one number for the whole host, from /proc/stat.",
    measure,
};

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    match interval.rises(Family::ContextSwitches, "switches") {
        Ok(switches) => {
            let rates = each(&switches, |rise| Ok(rise.per_second()));
            Ok(Series::whole(Values::Cpus(rates)))
        }
        Err(reason) => {
            let all = interval.rise(Family::Totals, 0, "ctxt").map_err(|_| reason)?;
            Ok(Series::whole(Values::Host(possible(all.per_second()))))
        }
    }
}

/// Reading the counters takes system calls and wakes somebody up: a host without a single switch has not counted.
fn possible(rate: f64) -> Fact<f64> {
    if rate > 0.0 {
        return Ok(rate);
    }
    Err(Missing::malformed("/proc/stat (ctxt)", "a count that stood still", "some context switch"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    #[test]
    fn each_cpu_has_its_own_where_they_are_counted_apart() {
        let before = "at 0\nContextSwitches switches\n0 5\n1 5\nTotals ctxt\n0 50\n";
        let after = "at 500\nContextSwitches switches\n0 505\n1 5\nTotals ctxt\n0 999\n";
        assert_eq!(measured(&METRIC, before, after), "0: 1000.00\n1: 0.00");
    }

    #[test]
    fn else_the_host_has_one_number() {
        let (before, after) = ("at 0\nTotals ctxt\n0 50\n", "at 500\nTotals ctxt\n0 1050\n");
        assert_eq!(measured(&METRIC, before, after), "host: 2000.00");
    }

    #[test]
    fn a_host_that_counts_none_does_not_count() {
        let sample = |ms| format!("at {ms}\nTotals ctxt\n0 50\n");
        assert_eq!(
            measured(&METRIC, &sample(0), &sample(1000)),
            "host: /proc/stat (ctxt) holds \"a count that stood still\", expected some context switch"
        );
    }

    #[test]
    fn without_either_source_there_is_a_reason() {
        let expected = "perf event context-switches is not in this copy of the host";
        assert_eq!(measured(&METRIC, "at 0\n", "at 1000\n"), expected);
        let (before, after) = ("at 0\nTotals ctxt\n0 50\n", "at 500\nTotals ctxt\n0 10\n");
        assert_eq!(measured(&METRIC, before, after), expected);
    }
}
