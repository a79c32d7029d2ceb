//! `watts`: power by domain, as the processor estimates or measures it.
//!
//! Sources: Intel SDM volume 3B, "RAPL Interfaces"; Documentation/power/powercap/powercap.rst. The counters
//! move about once a millisecond.

use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit, Values};
use facts::counters::Family;
use facts::{Fact, Missing};

pub(super) const METRIC: Metric = Metric {
    id: "watts",
    title: "power by domain",
    column: "Watt",
    unit: Unit::Watts,
    kind: Kind::Sum,
    families: &[Family::Energy],
    tasks: false,
    help: "A part for each domain that RAPL counts: `package-0` is the whole package, and what stands behind a slash \
           (`package-0/core`, `/dram`) a part of it or beside it: do not add them. An energy counter that stood \
           still measures nothing, and has no watts.",
    measure,
};

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::Energy)?;
    let series = rows.columns().into_iter().map(|(name, column)| {
        let rises = rows.rises(column);
        let watts = || {
            let rise =
                rises.iter().next().map_or(Err(Missing::absent(name)), |(_, it)| it.clone())?;
            // Graphics that nobody uses may take nothing; a processor that runs this does not.
            if rise.by == 0 && !name.ends_with("uncore") {
                let found = "a count that stood still";
                return Err(rows.nonsense(name, found, "energy that is being used"));
            }
            Ok(rise.per_second() / 1e6)
        };
        Series::part(name, Values::Host(watts()))
    });
    Ok(series.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    const BEFORE: &str = "at 0\nEnergy package-0 package-0/dram package-0/uncore\n0 1000 50 0\n";

    #[test]
    fn energy_by_time_is_power() {
        let after =
            "at 2000\nEnergy package-0 package-0/dram package-0/uncore\n0 190001000 8000050 0\n";
        assert_eq!(
            measured(&METRIC, BEFORE, after),
            "package-0 host: 95.00\npackage-0/dram host: 4.00\npackage-0/uncore host: 0.00"
        );
    }

    #[test]
    fn a_counter_that_wrapped_or_stands_still_has_no_watts() {
        let after = "at 2000\nEnergy package-0 package-0/dram package-0/uncore\n0 10 50 0\n";
        assert_eq!(
            measured(&METRIC, BEFORE, after),
            "package-0 host: RAPL energy counters (package-0) holds \"10 after 1000\", expected a counter that does not go backwards\n\
             package-0/dram host: RAPL energy counters (package-0/dram) holds \"a count that stood still\", expected energy that is being used\n\
             package-0/uncore host: 0.00"
        );
    }

    #[test]
    fn without_rapl_there_is_a_reason() {
        assert_eq!(
            measured(&METRIC, "at 0\n", "at 1000\n"),
            "RAPL energy counters is not in this copy of the host"
        );
    }
}
