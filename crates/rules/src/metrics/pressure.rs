//! `pressure`: the share of time in which tasks stood still for want of CPU, disk or memory.
//!
//! Source: Documentation/accounting/psi.rst, the `total` fields of /proc/pressure/*, in microseconds.

use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit, Values};
use facts::counters::Family;
use facts::{Fact, Missing};

pub(super) const METRIC: Metric = Metric {
    id: "pressure",
    title: "share of time in which tasks were held up",
    column: "PSI%",
    unit: Unit::Percent,
    kind: Kind::Mean,
    families: &[Family::Pressure],
    tasks: false,
    help: "A part for each kind: `cpu.some` is the time in which at least one runnable task waited for a CPU, `io.some` \
           for a disk, `memory.some` for memory; `full` that in which nobody else did anything useful either. Of \
           the whole host; the kernel weighs its CPUs. Needs CONFIG_PSI, and on some distributions `psi=1`.",
    measure,
};

const US: u64 = 1000;

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::Pressure)?;
    let series = rows.columns().into_iter().map(|(name, column)| {
        let rises = rows.rises(column);
        let share = || {
            let rise =
                rises.iter().next().map_or(Err(Missing::absent(name)), |(_, it)| it.clone())?;
            rise.percent(US, "/proc/pressure")
        };
        Series::part(name, Values::Host(share()))
    });
    Ok(series.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    const BEFORE: &str = "at 0\nPressure cpu.some io.some\n0 100 100\n";

    #[test]
    fn time_held_up_is_a_share_of_the_time() {
        let after = "at 2000\nPressure cpu.some io.some\n0 500100 100\n";
        assert_eq!(measured(&METRIC, BEFORE, after), "cpu.some host: 25.00\nio.some host: 0.00");
    }

    #[test]
    fn more_than_all_of_the_time_and_less_than_none_are_nonsense() {
        let after = "at 2000\nPressure cpu.some io.some\n0 9000100 50\n";
        assert_eq!(
            measured(&METRIC, BEFORE, after),
            "cpu.some host: /proc/pressure holds \"9000.0 ms within 2000.0 ms\", expected no more time than passed\n\
             io.some host: /proc/pressure (io.some) holds \"50 after 100\", expected a counter that does not go backwards"
        );
    }

    #[test]
    fn a_kernel_without_psi_gives_a_reason() {
        assert_eq!(
            measured(&METRIC, "at 0\n", "at 1000\n"),
            "/proc/pressure is not in this copy of the host"
        );
    }
}
