//! `temperature`: how hot each core is, at the end of the interval.
//!
//! Sources: Documentation/hwmon/coretemp.rst; Intel SDM volume 3B, "Digital Thermal Sensors".

use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit, Values};
use facts::counters::Family;
use facts::{Fact, Missing, PerCpu};

pub(super) const METRIC: Metric = Metric {
    id: "temperature",
    title: "temperature of each core",
    column: "CoreTmp",
    unit: Unit::Celsius,
    kind: Kind::Peak,
    families: &[Family::Temperature],
    tasks: false,
    help: "The core's sensor at the end of the interval: a reading and no mean. Far from its limit the sensor may be \
           several degrees off. Of several cores the hottest is shown.",
    measure,
};

/// No server runs at its freezing point, and silicon is switched off well below this (catastrophic shutdown,
/// about 130 °C).
const POSSIBLE: std::ops::RangeInclusive<u64> = 1_000..=150_000;

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    #[test]
    fn the_last_reading_counts() {
        let sample = |t: u32| format!("at {t}\nTemperature temperature\n0 {t}\n2 48500\n");
        assert_eq!(measured(&METRIC, &sample(41_000), &sample(52_000)), "0: 52.00\n2: 48.50");
    }

    #[test]
    fn zero_degrees_are_no_reading() {
        let sample = |ms| format!("at {ms}\nTemperature temperature\n0 0\n");
        assert_eq!(
            measured(&METRIC, &sample(0), &sample(1000)),
            "0: temperature of the cores holds \"0 °C\", expected 1 to 150 °C"
        );
    }

    #[test]
    fn without_sensors_there_is_a_reason() {
        assert_eq!(
            measured(&METRIC, "at 0\n", "at 1000\n"),
            "temperature of the cores is not in this copy of the host"
        );
    }
}
