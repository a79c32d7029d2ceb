//! `tsc-mhz`: how fast the time-stamp counter runs.
//!
//! Source: Intel SDM volume 3B, "Time-Stamp Counter": an invariant one runs at one rate whatever the CPU does.

use crate::cycles::cycles;
use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit, Values, each};
use facts::Fact;
use facts::counters::Family;

pub(super) const METRIC: Metric = Metric {
    id: "tsc-mhz",
    title: "rate of the time-stamp counter",
    column: "TSC_MHz",
    unit: Unit::Megahertz,
    kind: Kind::Peak,
    families: &[Family::Clocks],
    tasks: false,
    help: "Steps of the time-stamp counter by the time that passed on CLOCK_MONOTONIC_RAW. It is about the nominal \
           clock, always, whatever the CPU does: a yardstick, not a speed. One that differs between CPUs or moves \
           over time is broken.",
    measure,
};

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let tsc = cycles(interval, "tsc")?;
    Ok(Series::whole(Values::Cpus(each(&tsc, |rise| Ok(rise.per_second() / 1e6)))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    const BEFORE: &str = "at 0\nClocks tsc\n0 5\n";

    #[test]
    fn steps_by_time_are_its_rate() {
        assert_eq!(measured(&METRIC, BEFORE, "at 500\nClocks tsc\n0 1250000005\n"), "0: 2500.00");
    }

    #[test]
    fn one_that_stands_still_has_no_rate() {
        assert_eq!(
            measured(&METRIC, BEFORE, "at 500\nClocks tsc\n0 5\n"),
            "0: APERF, MPERF and TSC (tsc) holds \"a count that stood still\", expected a clock that runs while it is read"
        );
    }

    #[test]
    fn without_the_counter_there_is_a_reason() {
        assert_eq!(
            measured(&METRIC, "at 0\n", "at 500\n"),
            "APERF, MPERF and TSC is not in this copy of the host"
        );
    }
}
