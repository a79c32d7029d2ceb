//! `device-interrupts`: which devices interrupt, all CPUs together.
//!
//! Source: /proc/interrupts, the numbered lines. A large machine has thousands of them, each taken by a CPU or
//! two, so there is one value for the host and none for every CPU.

use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit, Values};
use facts::Fact;
use facts::counters::Family;
use facts::system::interrupts::is_of_the_cpu;

pub(super) const METRIC: Metric = Metric {
    id: "device-interrupts",
    title: "interrupts by device",
    column: "DevIRQ",
    unit: Unit::PerSecond,
    kind: Kind::Sum,
    families: &[Family::Interrupts],
    tasks: false,
    help: "A part for each interrupt of a device that came at least once in the interval, by its number in /proc/irq \
           and its device: `24 nvme0q1`. All CPUs together; `interrupts` says how many each CPU took.",
    measure,
};

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::Interrupts)?;
    let moved = rows.moved_columns().into_iter().filter(|(name, _)| !is_of_the_cpu(name));
    let series = moved.map(|(name, column)| {
        let rises = rows.rises(column);
        // A CPU of which nothing is known (it came or went) makes the sum one of the others; a count that went
        // backwards makes it nonsense.
        let rate = || match rises.missing() {
            Some(missing) if !missing.is_absence() => Err(missing.clone()),
            _ => Ok(rises.known().map(|(_, rise)| rise.per_second()).sum()),
        };
        Series::part(name, Values::Host(rate()))
    });
    Ok(series.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    const BEFORE: &str = "at 0\nInterrupts 24+nvme0q1 25+nvme0q2 LOC\n0 1 1 1\n1 1 1 1\n";

    #[test]
    fn a_device_has_the_interrupts_of_all_cpus() {
        let after = "at 1000\nInterrupts 24+nvme0q1 25+nvme0q2 LOC\n0 11 1 251\n1 31 1 2\n";
        assert_eq!(measured(&METRIC, BEFORE, after), "24 nvme0q1 host: 40.00");
    }

    #[test]
    fn a_count_that_goes_backwards_is_no_rate() {
        let after = "at 1000\nInterrupts 24+nvme0q1 25+nvme0q2 LOC\n0 11 1 251\n1 0 1 2\n";
        assert_eq!(
            measured(&METRIC, BEFORE, after),
            "24 nvme0q1 host: /proc/interrupts (24 nvme0q1) holds \"0 after 1\", expected a counter that does not go backwards"
        );
    }

    #[test]
    fn without_the_table_there_is_a_reason() {
        let expected = "/proc/interrupts is not in this copy of the host";
        assert_eq!(measured(&METRIC, "at 0\n", "at 1000\n"), expected);
    }
}
