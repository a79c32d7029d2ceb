//! `smi`: how often the firmware took the CPU away.
//!
//! Source: Intel SDM volume 4, MSR_SMI_COUNT (0x34); arch/x86/events/msr.c. It is a count of 32 bits, and only
//! Intel has it.

use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit, Values, each};
use facts::counters::Family;
use facts::{Fact, Missing};

pub(super) const METRIC: Metric = Metric {
    id: "smi",
    title: "system management interrupts",
    column: "SMI/s",
    unit: Unit::PerSecond,
    kind: Kind::Peak,
    families: &[Family::Clocks],
    tasks: false,
    help: "How often the CPU was in system management mode, where the firmware does what it likes and the kernel sees \
           nothing. Each costs tens of microseconds to milliseconds, and usually stops every CPU of the package at \
           once: so the highest rate is shown for several CPUs, and no sum. Hidden from guests, whose own \
           firmware may have some; theirs are not the host's.",
    measure,
};

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    if let Ok(Some(hypervisor)) = &interval.host.platform.hypervisor {
        return Err(Missing::hidden("the host's SMI count", hypervisor));
    }
    let smi = interval.rises(Family::Clocks, "smi")?;
    Ok(Series::whole(Values::Cpus(each(&smi, |rise| Ok(rise.per_second())))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{measured, measured_on};

    const BEFORE: &str = "at 0\nClocks tsc smi\n0 0 100\n1 0 100\n";

    #[test]
    fn interrupts_by_time_are_a_rate() {
        let after = "at 2000\nClocks tsc smi\n0 9 110\n1 9 100\n";
        assert_eq!(measured(&METRIC, BEFORE, after), "0: 5.00\n1: 0.00");
    }

    #[test]
    fn a_guest_does_not_see_them() {
        let guest =
            "//- /proc/cpuinfo\nprocessor : 0\nflags : hypervisor\n//- /sys/hypervisor/type\nxen\n";
        assert_eq!(
            measured_on(guest, &METRIC, BEFORE, BEFORE),
            "the host's SMI count is hidden from a guest of xen"
        );
    }

    #[test]
    fn a_processor_without_the_count_has_a_reason() {
        let sample = |ms| format!("at {ms}\nClocks tsc\n0 {ms}\n");
        assert_eq!(measured(&METRIC, &sample(0), &sample(1000)), "smi does not exist");
    }

    #[test]
    fn a_count_that_wrapped_is_no_rate() {
        let after = "at 1000\nClocks tsc smi\n0 9 3\n1 9 101\n";
        assert_eq!(
            measured(&METRIC, BEFORE, after),
            "0: APERF, MPERF and TSC (smi) holds \"3 after 100\", expected a counter that does not go backwards\n1: 1.00"
        );
    }
}
