//! `throttle-events`: how often a core or a package got too hot.
//!
//! Source: drivers/thermal/intel/therm_throt.c: bit 0 of IA32_THERM_STATUS and of its package's twin. PROCHOT# from
//! outside, limits of power and current, and clock modulation are not counted there.

use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit};
use crate::throttling::throttling;
use facts::Fact;
use facts::counters::Family;

pub(super) const METRIC: Metric = Metric {
    id: "throttle-events",
    title: "thermal throttle events",
    column: "Thrt/s",
    unit: Unit::PerSecond,
    kind: Kind::Sum,
    families: &[Family::Throttling],
    tasks: false,
    help: "How often the kernel was told that a core, or the package, reached its temperature limit. Only heat of the \
           processor itself counts: a clock held down by PROCHOT# from the board, by a power or current limit or \
           by clock modulation shows 0 here. Intel only, and absent where firmware keeps the thermal interrupt \
           for itself.",
    measure,
};

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let columns = ["core_throttle_count", "package_throttle_count"];
    throttling(interval, columns, |rise| Ok(rise.per_second()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{XEON, measured, measured_on};

    const BEFORE: &str = "at 0\nThrottling core_throttle_count package_throttle_count\n\
                          0 5 7\n1 0 7\n2 5 7\n3 0 7\n";

    #[test]
    fn threads_of_a_core_count_its_events_once() {
        let after = "at 2000\nThrottling core_throttle_count package_throttle_count\n\
                     0 9 9\n1 0 9\n2 9 9\n3 0 9\n";
        assert_eq!(
            measured_on(XEON, &METRIC, BEFORE, after),
            "core 0: 2.00\ncore 1: 0.00\npackage 0: 1.00"
        );
    }

    #[test]
    fn a_count_that_goes_backwards_is_no_rate() {
        let after = "at 2000\nThrottling core_throttle_count package_throttle_count\n\
                     0 1 7\n1 0 7\n2 1 7\n3 0 7\n";
        let source = "/sys/devices/system/cpu/cpuN/thermal_throttle (core_throttle_count)";
        assert_eq!(
            measured_on(XEON, &METRIC, BEFORE, after),
            format!(
                "core 0: {source} holds \"1 after 5\", expected a counter that does not go backwards\ncore 1: 0.00\npackage 0: 0.00"
            )
        );
    }

    #[test]
    fn without_the_counters_there_is_a_reason() {
        assert_eq!(
            measured_on(XEON, &METRIC, "at 0\n", "at 1000\n"),
            "/sys/devices/system/cpu/cpuN/thermal_throttle is not in this copy of the host"
        );
    }

    #[test]
    fn without_a_topology_nobody_knows_whose_events_they_are() {
        let reason = measured(&METRIC, BEFORE, "at 2000\n");
        assert!(reason.contains("does not exist"), "{reason}");
    }
}
