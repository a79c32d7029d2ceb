//! `average-mhz`: cycles done, of all the time that passed.
//!
//! Source: Intel SDM volume 3B, "Hardware Feedback using MPERF and APERF": APERF counts the cycles that are done
//! in C0, and none while the clock is stopped.

use crate::cycles::cycles;
use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit, Values, each};
use facts::Fact;
use facts::counters::Family;

pub(super) const METRIC: Metric = Metric {
    id: "average-mhz",
    title: "cycles done, busy or not",
    column: "Avg_MHz",
    unit: Unit::Megahertz,
    kind: Kind::Mean,
    families: &[Family::Clocks],
    tasks: false,
    help: "Cycles of APERF by the time that passed: what the CPU did. It falls with idle time and with anything \
           that stops the clock, clock modulation included. Of a CPU that is busy all the time it is the effective \
           clock, and the most trustworthy of the three. Hidden from most guests.",
    measure,
};

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let aperf = cycles(interval, "aperf")?;
    Ok(Series::whole(Values::Cpus(each(&aperf, |rise| Ok(rise.per_second() / 1e6)))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{measured, measured_on};

    #[test]
    fn cycles_are_spread_over_all_of_the_time() {
        let (before, after) =
            ("at 0\nClocks aperf\n0 1\n", "at 2000\nClocks aperf\n0 3000000001\n");
        assert_eq!(measured(&METRIC, before, after), "0: 1500.00");
    }

    #[test]
    fn a_guest_that_is_shown_no_cycles_did_not_do_none() {
        let guest =
            "//- /proc/cpuinfo\nprocessor : 0\nflags : hypervisor\n//- /sys/hypervisor/type\nxen\n";
        let (before, after) = ("at 0\nClocks aperf\n0 0\n", "at 1000\nClocks aperf\n0 0\n");
        assert_eq!(
            measured_on(guest, &METRIC, before, after),
            "0: APERF is hidden from a guest of xen"
        );
    }

    #[test]
    fn without_aperf_there_is_a_reason() {
        let (before, after) = ("at 0\nClocks tsc\n0 0\n", "at 1000\nClocks tsc\n0 9\n");
        assert_eq!(measured(&METRIC, before, after), "aperf does not exist");
    }

    #[test]
    fn cycles_that_go_backwards_are_none() {
        let (before, after) = ("at 0\nClocks aperf\n0 9\n", "at 1000\nClocks aperf\n0 1\n");
        assert_eq!(
            measured(&METRIC, before, after),
            "0: APERF, MPERF and TSC (aperf) holds \"1 after 9\", expected a counter that does not go backwards"
        );
    }
}
