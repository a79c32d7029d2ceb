//! Cycles of one counter as a share of those of another: the time in C0, and the cycles that were not stalled.

use super::clocks::cycles;
use crate::interval::{Delta, Interval};
use crate::metric::{Kind, Limits, Metric, Series, Tasks, Unit, Values};
use facts::counters::Family;
use facts::{Fact, Missing};

/// The share of time in which the clock of a CPU ran.
///
/// Source: Intel SDM volume 3B, "Hardware Feedback using MPERF and APERF": MPERF counts in C0 only, at the rate of the
/// time-stamp counter within 1 % (bus clock against crystal).
pub(super) const C0: Metric = Metric {
    id: "c0",
    title: "share of time with the clock running",
    column: "C0%",
    unit: Unit::Percent,
    kind: Kind::Mean,
    limits: Limits::None,
    families: &[Family::Clocks],
    tasks: Tasks::None,
    help: "Cycles of MPERF to those of the time-stamp counter: the time in which the CPU was in C0, of the time \
           that passed. turbostat calls this Busy%. Polling in the idle task counts here and not in `busy`. \
           Whether MPERF stands still while the clock is modulated depends on the processor's model. Hidden \
           from most guests.",
    measure: |interval| share(interval, "mperf", "tsc", "no more than TSC counts"),
};

/// The share of cycles in which the CPU did not wait for memory.
///
/// Sources: Intel SDM volume 4, MSR_PPERF (0x64E), "hardware's view of workload scalability", against APERF; SDM volume
/// 3B, "Non-Architectural HWP". arch/x86/events/msr.c lists the models that have it: Intel's from Skylake on.
pub(super) const PRODUCTIVE_CYCLES: Metric = Metric {
    id: "productive-cycles",
    title: "share of cycles that were not stalled",
    column: "Prod%",
    unit: Unit::Percent,
    kind: Kind::Mean,
    limits: Limits::None,
    families: &[Family::Clocks],
    tasks: Tasks::None,
    help: "PPERF to APERF: of the cycles in which the CPU's clock ran, those that the processor itself holds to be \
           productive, because they were not stalled. It is what the processor goes by when it chooses its own clock: \
           work with a low share gains little from a higher one. What counts as a stall, Intel does not say. Only \
           some of Intel's processors have the counter, and hypervisors hide it from guests.",
    measure: |interval| share(interval, "pperf", "aperf", "no more than APERF counts"),
};

/// More than 100 % within this: MPERF and TSC differ by less than 1 %, and the two counters are read one after the
/// other.
const MOST: f64 = 102.0;

/// Cycles of `counter` in percent of those of `whole`; `most` says that more are not possible.
fn share(interval: &Interval, counter: &str, whole: &str, most: &'static str) -> Fact<Vec<Series>> {
    let (all, counted) = (cycles(interval, whole)?, cycles(interval, counter)?);
    let (counter, whole) = (counter.to_uppercase(), whole.to_uppercase());
    let share = |cpu: u32, counted: &Fact<Delta>| {
        let all = all.get(cpu).cloned().unwrap_or_else(|| Err(Missing::absent(&whole)))?;
        let share = 100.0 * counted.clone()?.by as f64 / all.by as f64;
        if share > MOST {
            let found = format!("{counter} at {share:.0} % of {whole}");
            return Err(Missing::malformed(&counter, &found, most));
        }
        Ok(share.min(100.0))
    };
    let shares = counted.iter().map(|(cpu, it)| (cpu, share(cpu, it))).collect();
    Ok(Series::whole(Values::Cpus(shares)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    const BEFORE: &str = "at 0\nClocks tsc mperf\n0 1000 500\n1 1000 500\n";

    #[test]
    fn mperf_runs_while_the_clock_does() {
        let after = "at 1000\nClocks tsc mperf\n0 3000 1000\n1 3000 2510\n";
        assert_eq!(measured(&C0, BEFORE, after), "0: 25.00\n1: 100.00");
    }

    #[test]
    fn more_mperf_than_tsc_is_nonsense() {
        let after = "at 1000\nClocks tsc mperf\n0 3000 4500\n1 3000 1500\n";
        let expected =
            "0: MPERF: found \"MPERF at 200 % of TSC\", expected no more than TSC counts\n1: 50.00";
        assert_eq!(measured(&C0, BEFORE, after), expected);
    }

    const STALLING: &str = "at 0\nClocks tsc aperf pperf\n0 1 1000 500\n1 1 1000 500\n";

    #[test]
    fn productive_cycles_are_a_share_of_those_that_ran() {
        let after = "at 1000\nClocks tsc aperf pperf\n0 9 3000 1000\n1 9 3000 2510\n";
        assert_eq!(measured(&PRODUCTIVE_CYCLES, STALLING, after), "0: 25.00\n1: 100.00");
    }

    #[test]
    fn more_productive_cycles_than_cycles_are_nonsense() {
        let after = "at 1000\nClocks tsc aperf pperf\n0 9 3000 4500\n1 9 3000 500\n";
        let expected = "0: PPERF: found \"PPERF at 200 % of APERF\", expected no more than APERF counts\n\
                        1: APERF, MPERF and TSC (pperf): found \"a count that stood still\", expected a clock that runs while it is read";
        assert_eq!(measured(&PRODUCTIVE_CYCLES, STALLING, after), expected);
    }

    #[test]
    fn a_processor_without_the_counter_has_a_reason() {
        let sample = |ms: u32| format!("at {ms}\nClocks tsc aperf\n0 {ms} {ms}\n");
        assert_eq!(measured(&PRODUCTIVE_CYCLES, &sample(0), &sample(1000)), "pperf does not exist");
    }
}
