//! What sensors read: temperature and power.

use crate::interval::Interval;
use crate::metric::{Kind, Limits, Metric, Series, Tasks, Unit, Values};
use facts::counters::Family;
use facts::{Fact, Missing, PerCpu};

/// How hot each core is at the end of the interval.
///
/// Sources: Documentation/hwmon/coretemp.rst; Intel SDM volume 3B, "Digital Thermal Sensors".
pub(super) const TEMPERATURE: Metric = Metric {
    id: "temperature",
    title: "temperature of each core",
    column: "CoreTmp",
    unit: Unit::Celsius,
    kind: Kind::Peak,
    limits: Limits::From { notable: 85.0, severe: 95.0 },
    families: &[Family::Temperature],
    tasks: Tasks::None,
    help: "The core's sensor at the end of the interval: a reading and no mean. Far from its limit the sensor may be \
           several degrees off. Of several cores the hottest is shown.",
    measure: temperature,
};

/// No server runs at its freezing point, and silicon is switched off well below this (catastrophic shutdown,
/// about 130 °C).
const POSSIBLE: std::ops::RangeInclusive<u64> = 1_000..=150_000;

fn temperature(interval: &Interval) -> Fact<Vec<Series>> {
    let table = interval.after.table(Family::Temperature)?;
    let column = table.column("temperature")?;
    let reading = |row: u32| {
        let millidegrees = table.cell(table.row(row)?, column);
        if POSSIBLE.contains(&millidegrees) {
            Ok(millidegrees as f64 / 1e3)
        } else {
            let found = format!("{} °C", millidegrees as f64 / 1e3);
            Err(Missing::malformed(Family::Temperature.source(), &found, "1 to 150 °C"))
        }
    };
    let cores: PerCpu<f64> = table.rows().iter().map(|&row| (row, reading(row))).collect();
    Ok(Series::whole(Values::Cores(cores)))
}

/// Power by domain, as the processor estimates or measures it.
///
/// Sources: Intel SDM volume 3B, "RAPL Interfaces"; Documentation/power/powercap/powercap.rst. The counters move about
/// once a millisecond.
pub(super) const WATTS: Metric = Metric {
    id: "watts",
    title: "power by domain",
    column: "Watt",
    unit: Unit::Watts,
    kind: Kind::Sum,
    limits: Limits::None,
    families: &[Family::Energy],
    tasks: Tasks::None,
    help: "A part for each domain that RAPL counts: `package-0` is the whole package, and what stands after a slash \
           (`package-0/core`, `/dram`) a part of it or beside it: do not add them. An energy counter that stood \
           still measures nothing, and has no watts.",
    measure: watts,
};

fn watts(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::Energy)?;
    let series = rows.columns().into_iter().map(|(name, column)| {
        let deltas = rows.deltas(column);
        let watts = || {
            let delta =
                deltas.iter().next().map_or(Err(Missing::absent(name)), |(_, it)| it.clone())?;
            // Unused graphics may use no energy; a processor that runs this program cannot.
            if delta.by == 0 && !name.ends_with("uncore") {
                let found = "a count that stood still";
                return Err(rows.nonsense(name, found, "energy that is being used"));
            }
            Ok(delta.per_second() / 1e6)
        };
        Series::part(name, Values::Host(watts()))
    });
    Ok(series.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    #[test]
    fn the_last_reading_counts() {
        let sample = |t: u32| format!("at {t}\nTemperature temperature\n0 {t}\n2 48500\n");
        assert_eq!(measured(&TEMPERATURE, &sample(41_000), &sample(52_000)), "0: 52.00\n2: 48.50");
    }

    #[test]
    fn zero_degrees_are_no_reading() {
        let sample = |ms| format!("at {ms}\nTemperature temperature\n0 0\n");
        assert_eq!(
            measured(&TEMPERATURE, &sample(0), &sample(1000)),
            "0: temperature of the cores: found \"0 °C\", expected 1 to 150 °C"
        );
    }

    const ENERGY: &str = "at 0\nEnergy package-0 package-0/dram package-0/uncore\n0 1000 50 0\n";

    #[test]
    fn energy_by_time_is_power() {
        let after =
            "at 2000\nEnergy package-0 package-0/dram package-0/uncore\n0 190001000 8000050 0\n";
        assert_eq!(
            measured(&WATTS, ENERGY, after),
            "package-0 host: 95.00\npackage-0/dram host: 4.00\npackage-0/uncore host: 0.00"
        );
    }

    #[test]
    fn a_counter_that_wrapped_or_stands_still_has_no_watts() {
        let after = "at 2000\nEnergy package-0 package-0/dram package-0/uncore\n0 10 50 0\n";
        assert_eq!(
            measured(&WATTS, ENERGY, after),
            "package-0 host: RAPL energy counters (package-0): found \"10 after 1000\", expected a counter that does not go backwards\n\
             package-0/dram host: RAPL energy counters (package-0/dram): found \"a count that stood still\", expected energy that is being used\n\
             package-0/uncore host: 0.00"
        );
    }
}
