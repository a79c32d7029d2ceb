//! How often, and for how long, a core or a package was too hot.
//!
//! Source: drivers/thermal/intel/therm_throt.c: bit 0 of IA32_THERM_STATUS and of IA32_PACKAGE_THERM_STATUS. PROCHOT# from
//! outside, limits of power and current, and clock modulation are not counted there. The threads of a core count the same
//! events, and so do the CPUs of a package: the lowest CPU of each is taken.

use crate::interval::{Delta, Interval};
use crate::metric::{Kind, Limits, Metric, Series, Tasks, Unit, Values, each};
use facts::counters::Family;
use facts::{CpuSet, Fact};

/// How often one got too hot.
pub(super) const THROTTLE_EVENTS: Metric = Metric {
    id: "throttle-events",
    title: "thermal throttle events",
    column: "Thrt/s",
    unit: Unit::PerSecond,
    kind: Kind::Sum,
    limits: Limits::From { notable: f64::MIN_POSITIVE, severe: f64::INFINITY },
    families: &[Family::Throttling],
    tasks: Tasks::None,
    help: "How often the kernel was told that a core, or the package, reached its temperature limit. Only heat of the \
           processor itself counts: a clock held down by PROCHOT# from the board, by a power or current limit or \
           by clock modulation shows 0 here. Intel only, and absent where firmware keeps the thermal interrupt \
           for itself.",
    measure: throttle_events,
};

fn throttle_events(interval: &Interval) -> Fact<Vec<Series>> {
    let columns = ["core_throttle_count", "package_throttle_count"];
    throttling(interval, columns, |delta| Ok(delta.per_second()))
}

/// For how long one was too hot: `*_throttle_total_time_ms` (Linux 5.6 and later). The kernel adds an event's time when
/// it ends, and only the time within 10 degrees of the limit.
pub(super) const THROTTLE_TIME: Metric = Metric {
    id: "throttle-time",
    title: "time throttled by heat",
    column: "Thrt_ms",
    unit: Unit::MillisecondsPerSecond,
    kind: Kind::Peak,
    limits: Limits::From { notable: 1.0, severe: 50.0 },
    families: &[Family::Throttling],
    tasks: Tasks::None,
    help: "Milliseconds of each second in which a core, or the package, held its clock down at its temperature limit, \
           by the kernel's count (Linux 5.6 and later). The kernel adds an event's time when it ends. What it \
           does not count is said at `throttle-events`.",
    measure: throttle_time,
};

fn throttle_time(interval: &Interval) -> Fact<Vec<Series>> {
    let columns = ["core_throttle_total_time_ms", "package_throttle_total_time_ms"];
    // An event that began before the interval may add more time than the interval has: that is no share of it.
    throttling(interval, columns, |delta| {
        Ok(10.0 * delta.percent(1_000_000, "thermal_throttle/*_throttle_total_time_ms")?)
    })
}

/// Two series, `core` and `package`, of the columns with these names.
pub(crate) fn throttling(
    interval: &Interval,
    [core, package]: [&str; 2],
    value: fn(&Delta) -> Fact<f64>,
) -> Fact<Vec<Series>> {
    let topology = &interval.host.topology;
    let deltas = |column: &str, groups: &Fact<Vec<CpuSet>>| {
        let online = interval.cpus();
        // Offline CPUs have no counters: the first online CPU of a group is taken.
        let leaders: CpuSet =
            groups.as_ref()?.iter().filter_map(|group| group.and(&online).first()).collect();
        let rows = interval.rows(Family::Throttling)?.only(&leaders);
        Fact::Ok(each(&rows.deltas(rows.column(column)?), value))
    };
    let cores = deltas(core, &topology.cores)?;
    let mut series = vec![Series::part("core", Values::Cores(cores))];
    // Some processors have no thermal status of the package.
    if let Ok(packages) = deltas(package, &topology.packages) {
        series.push(Series::part("package", Values::Packages(packages)));
    }
    Ok(series)
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
            measured_on(XEON, &THROTTLE_EVENTS, BEFORE, after),
            "core 0: 2.00\ncore 1: 0.00\npackage 0: 1.00"
        );
    }

    #[test]
    fn without_a_topology_nobody_knows_whose_events_they_are() {
        let reason = measured(&THROTTLE_EVENTS, BEFORE, "at 2000\n");
        assert!(reason.contains("does not exist"), "{reason}");
    }

    const TIMES: &str = "at 0\nThrottling core_throttle_total_time_ms\n0 100\n1 0\n2 100\n3 0\n";

    #[test]
    fn throttled_time_is_a_share_of_each_second() {
        let after = "at 2000\nThrottling core_throttle_total_time_ms\n0 600\n1 0\n2 600\n3 0\n";
        assert_eq!(measured_on(XEON, &THROTTLE_TIME, TIMES, after), "core 0: 250.00\ncore 1: 0.00");
    }

    #[test]
    fn an_event_longer_than_the_interval_is_not_of_it() {
        let after = "at 2000\nThrottling core_throttle_total_time_ms\n0 9100\n1 0\n2 9100\n3 0\n";
        assert_eq!(
            measured_on(XEON, &THROTTLE_TIME, TIMES, after),
            "core 0: thermal_throttle/*_throttle_total_time_ms: found \"9000.0 ms within 2000.0 ms\", expected no more time than passed\ncore 1: 0.00"
        );
    }

    #[test]
    fn a_kernel_before_5_6_has_no_times() {
        let sample = |ms| format!("at {ms}\nThrottling core_throttle_count\n0 0\n1 0\n2 0\n3 0\n");
        assert_eq!(
            measured_on(XEON, &THROTTLE_TIME, &sample(0), &sample(1000)),
            "core_throttle_total_time_ms does not exist"
        );
    }
}
