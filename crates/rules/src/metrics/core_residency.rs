//! `core-residency`: the share of time each core spent in each C-state, by the hardware's counters.
//!
//! Sources: Intel SDM volume 4 and arch/x86/events/intel/cstate.c, which say what models count which states.

use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit, Values};
use crate::residency::residency;
use facts::Fact;
use facts::counters::Family;

pub(super) const METRIC: Metric = Metric {
    id: "core-residency",
    title: "share of time each core spent in each C-state",
    column: "CPU%",
    unit: Unit::Percent,
    kind: Kind::Mean,
    families: &[Family::CoreResidency, Family::Clocks],
    tasks: false,
    help: "A part for each C-state that the processor counts: the time that the core, all its threads together, really spent there. It is what the *hardware* did; what the kernel asked for is `idle-requested`. A core sleeps as deep as the shallowest request of its threads lets it, and the processor may decide for less. Which states are counted depends on the model: many do not count C1.",
    measure,
};

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    residency(interval, Family::CoreResidency, Values::Cores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{measured, measured_on};

    const BEFORE: &str = "at 0\nClocks tsc\n0 0\n1 0\nCoreResidency c1 c6\n0 10 20\n";

    #[test]
    fn cycles_in_a_state_are_a_share_of_all_cycles() {
        let after =
            "at 1000\nClocks tsc\n0 1000000\n1 1000000\nCoreResidency c1 c6\n0 250010 500020\n";
        assert_eq!(measured(&METRIC, BEFORE, after), "c1 0: 25.00\nc6 0: 50.00");
    }

    #[test]
    fn more_cycles_than_there_were_are_nonsense() {
        let after = "at 1000\nClocks tsc\n0 1000000\n1 1000000\nCoreResidency c1 c6\n0 5 3000020\n";
        let source = Family::CoreResidency.source();
        assert_eq!(
            measured(&METRIC, BEFORE, after),
            format!(
                "c1 0: {source} (c1) holds \"5 after 10\", expected a counter that does not go backwards\n\
                 c6 0: {source} (c6) holds \"300 % of TSC\", expected no more than TSC counts"
            )
        );
    }

    #[test]
    fn counters_that_a_guest_reads_as_zero_are_hidden_from_it() {
        let guest =
            "//- /proc/cpuinfo\nprocessor : 0\nflags : hypervisor\n//- /sys/hypervisor/type\nxen\n";
        let zeros = |ms: u32| format!("at {ms}\nClocks tsc\n0 {ms}\nCoreResidency c1 c6\n0 0 0\n");
        let expected = format!("{} is hidden from a guest of xen", Family::CoreResidency.source());
        assert_eq!(measured_on(guest, &METRIC, &zeros(0), &zeros(1000)), expected);
    }

    #[test]
    fn without_counters_there_is_a_reason() {
        let expected =
            format!("{} is not in this copy of the host", Family::CoreResidency.source());
        assert_eq!(measured(&METRIC, "at 0\n", "at 1000\n"), expected);
    }
}
