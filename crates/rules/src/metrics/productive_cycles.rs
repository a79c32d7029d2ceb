//! `productive-cycles`: the share of a CPU's cycles in which it did not wait for memory.
//!
//! Source: Intel SDM volume 4, MSR_PPERF (0x64E), "hardware's view of workload scalability", against APERF; SDM
//! volume 3B, "Non-Architectural HWP". arch/x86/events/msr.c knows the models that have it: Intel's from Skylake on.

use crate::cycles::cycles;
use crate::interval::{Interval, Rise};
use crate::metric::{Kind, Metric, Series, Unit, Values};
use facts::counters::Family;
use facts::{Fact, Missing};

pub(super) const METRIC: Metric = Metric {
    id: "productive-cycles",
    title: "share of cycles that were not stalled",
    column: "Prod%",
    unit: Unit::Percent,
    kind: Kind::Mean,
    families: &[Family::Clocks],
    tasks: false,
    help: "PPERF to APERF: of the cycles in which the CPU's clock ran, those that the processor itself holds to be \
           productive, because they were not stalled. It is what the processor goes by when it chooses its own clock: \
           work with a low share gains little from a higher one. What counts as a stall, Intel does not say. Only \
           some of Intel's processors have the counter, and hypervisors hide it from guests.",
    measure,
};

/// Beyond all cycles, what the two may be apart that are read one after the other.
const MOST: f64 = 102.0;

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let (pperf, aperf) = (cycles(interval, "pperf")?, cycles(interval, "aperf")?);
    let share = |cpu: u32, pperf: &Fact<Rise>| {
        let aperf = aperf.get(cpu).cloned().unwrap_or_else(|| Err(Missing::absent("APERF")))?;
        let share = 100.0 * pperf.clone()?.by as f64 / aperf.by as f64;
        if share > MOST {
            let found = format!("PPERF at {share:.0} % of APERF");
            return Err(Missing::malformed("PPERF", &found, "no more than APERF counts"));
        }
        Ok(share.min(100.0))
    };
    Ok(Series::whole(Values::Cpus(pperf.iter().map(|(cpu, it)| (cpu, share(cpu, it))).collect())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    const BEFORE: &str = "at 0\nClocks tsc aperf pperf\n0 1 1000 500\n1 1 1000 500\n";

    #[test]
    fn productive_cycles_are_a_share_of_those_that_ran() {
        let after = "at 1000\nClocks tsc aperf pperf\n0 9 3000 1000\n1 9 3000 2510\n";
        assert_eq!(measured(&METRIC, BEFORE, after), "0: 25.00\n1: 100.00");
    }

    #[test]
    fn more_productive_cycles_than_cycles_are_nonsense() {
        let after = "at 1000\nClocks tsc aperf pperf\n0 9 3000 4500\n1 9 3000 500\n";
        let expected = "0: PPERF holds \"PPERF at 200 % of APERF\", expected no more than APERF counts\n\
                        1: APERF, MPERF and TSC (pperf) holds \"a count that stood still\", expected a clock that runs while it is read";
        assert_eq!(measured(&METRIC, BEFORE, after), expected);
    }

    #[test]
    fn a_processor_without_the_counter_has_a_reason() {
        let sample = |ms: u32| format!("at {ms}\nClocks tsc aperf\n0 {ms} {ms}\n");
        assert_eq!(measured(&METRIC, &sample(0), &sample(1000)), "pperf does not exist");
    }
}
