//! `throttle-time`: for how long a core or a package was too hot.
//!
//! Source: drivers/thermal/intel/therm_throt.c, `*_throttle_total_time_ms` (Linux 5.6 and later). An event's time is
//! added when it ends, and only that within 10 degrees of the limit.

use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit};
use crate::throttling::throttling;
use facts::Fact;
use facts::counters::Family;

pub(super) const METRIC: Metric = Metric {
    id: "throttle-time",
    title: "time throttled by heat",
    column: "Thrt_ms",
    unit: Unit::MillisecondsPerSecond,
    kind: Kind::Peak,
    families: &[Family::Throttling],
    tasks: false,
    help: "Milliseconds of each second in which a core, or the package, held its clock down at its temperature limit, \
           by the kernel's count (Linux 5.6 and later). The kernel adds an event's time when it ends. What it \
           does not count is said at `throttle-events`.",
    measure,
};

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let columns = ["core_throttle_total_time_ms", "package_throttle_total_time_ms"];
    // An event that began before the interval may bring more time than the interval had: that is no share of it.
    throttling(interval, columns, |rise| {
        Ok(10.0 * rise.percent(1_000_000, "thermal_throttle/*_throttle_total_time_ms")?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{XEON, measured_on};

    const BEFORE: &str = "at 0\nThrottling core_throttle_total_time_ms\n0 100\n1 0\n2 100\n3 0\n";

    #[test]
    fn throttled_time_is_a_share_of_each_second() {
        let after = "at 2000\nThrottling core_throttle_total_time_ms\n0 600\n1 0\n2 600\n3 0\n";
        assert_eq!(measured_on(XEON, &METRIC, BEFORE, after), "core 0: 250.00\ncore 1: 0.00");
    }

    #[test]
    fn an_event_longer_than_the_interval_is_not_of_it() {
        let after = "at 2000\nThrottling core_throttle_total_time_ms\n0 9100\n1 0\n2 9100\n3 0\n";
        assert_eq!(
            measured_on(XEON, &METRIC, BEFORE, after),
            "core 0: thermal_throttle/*_throttle_total_time_ms holds \"9000.0 ms within 2000.0 ms\", expected no more time than passed\ncore 1: 0.00"
        );
    }

    #[test]
    fn a_kernel_before_5_6_has_no_times() {
        let sample = |ms| format!("at {ms}\nThrottling core_throttle_count\n0 0\n1 0\n2 0\n3 0\n");
        assert_eq!(
            measured_on(XEON, &METRIC, &sample(0), &sample(1000)),
            "core_throttle_total_time_ms does not exist"
        );
    }
}
