//! `interrupts`: what interrupts each CPU, by kind.
//!
//! Source: /proc/interrupts; the kinds are those of arch_show_interrupts in arch/*/kernel/irq.c.

use crate::interval::{Column, Interval};
use crate::metric::{Kind, Metric, Series, Unit, Values, each};
use facts::Fact;
use facts::counters::Family;
use facts::system::interrupts::is_of_the_cpu;

pub(super) const METRIC: Metric = Metric {
    id: "interrupts",
    title: "interrupts by kind",
    column: "IRQ",
    unit: Unit::PerSecond,
    kind: Kind::Sum,
    families: &[Family::Interrupts],
    tasks: false,
    help: "A part for each kind of /proc/interrupts that came at least once in the interval: `LOC` timer, `RES` and \
           `CAL` from other CPUs, `TLB` shootdowns, `NMI`, `PMI` performance counters, `MCE` and `THR` faults of \
           the hardware, `TRM` thermal events. `devices` is all that come from devices; `device-interrupts` \
           names them. SMIs are no interrupts that a kernel sees.",
    measure,
};

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::Interrupts)?;
    let (kinds, devices): (Vec<_>, Vec<_>) =
        rows.moved_columns().into_iter().partition(|(name, _)| is_of_the_cpu(name));
    let mut series = Vec::with_capacity(kinds.len() + 1);
    if !devices.is_empty() {
        let devices: Vec<Column> = devices.into_iter().map(|(_, column)| column).collect();
        let rates = each(&rows.sums(&devices), |rise| Ok(rise.per_second()));
        series.push(Series::part("devices", Values::Cpus(rates)));
    }
    series.extend(Series::rates(&rows, kinds));
    Ok(series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    const BEFORE: &str =
        "at 0\nInterrupts 24+nvme0q1 25+nvme0q2 LOC MCE TLB\n0 1 1 1 1 1\n1 1 1 1 1 1\n";

    #[test]
    fn kinds_that_came_have_rates_and_devices_one_together() {
        let after =
            "at 1000\nInterrupts 24+nvme0q1 25+nvme0q2 LOC MCE TLB\n0 11 6 251 1 1\n1 1 1 2 1 9\n";
        let expected = "devices 0: 15.00\ndevices 1: 0.00\nLOC 0: 250.00\nLOC 1: 1.00\nTLB 0: 0.00\nTLB 1: 8.00";
        assert_eq!(measured(&METRIC, BEFORE, after), expected);
    }

    #[test]
    fn a_count_that_goes_backwards_spoils_its_kind_on_its_cpu_only() {
        let after =
            "at 1000\nInterrupts 24+nvme0q1 25+nvme0q2 LOC MCE TLB\n0 0 6 251 1 1\n1 2 1 1 1 1\n";
        let expected = "devices 0: /proc/interrupts (24 nvme0q1) holds \"0 after 1\", expected a counter that does not go backwards\n\
                        devices 1: 1.00\nLOC 0: 250.00\nLOC 1: 0.00";
        assert_eq!(measured(&METRIC, BEFORE, after), expected);
    }

    #[test]
    fn without_the_table_there_is_a_reason() {
        let expected = "/proc/interrupts is not in this copy of the host";
        assert_eq!(measured(&METRIC, "at 0\n", "at 1000\n"), expected);
    }
}
