//! `c0`: the share of time in which a CPU's clock ran.
//!
//! Source: Intel SDM volume 3B, "Hardware Feedback using MPERF and APERF": MPERF counts in C0 only, at a fixed
//! rate, that of the time-stamp counter within a hundredth (bus clock against crystal).

use crate::cycles::cycles;
use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit, Values};
use facts::counters::Family;
use facts::{Fact, Missing};

pub(super) const METRIC: Metric = Metric {
    id: "c0",
    title: "share of time with the clock running",
    column: "C0%",
    unit: Unit::Percent,
    kind: Kind::Mean,
    families: &[Family::Clocks],
    tasks: false,
    help: "Cycles of MPERF to those of the time-stamp counter: the time in which the CPU was in C0, of the time \
           that passed. turbostat calls this Busy%. Polling in the idle task counts here and not in `busy`. \
           Whether MPERF stands still while the clock is modulated depends on the processor's model. Hidden \
           from most guests.",
    measure,
};

/// MPERF and TSC differ by less than a hundredth; as much again for the time between reading the two.
const MOST: f64 = 102.0;

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let (tsc, mperf) = (cycles(interval, "tsc")?, cycles(interval, "mperf")?);
    let share = |cpu: u32, mperf: &Fact<crate::interval::Rise>| {
        let tsc = tsc.get(cpu).cloned().unwrap_or_else(|| Err(Missing::absent("TSC")))?;
        let share = 100.0 * mperf.clone()?.by as f64 / tsc.by as f64;
        if share > MOST {
            let found = format!("MPERF at {share:.0} % of TSC");
            return Err(Missing::malformed("MPERF", &found, "no more than TSC counts"));
        }
        Ok(share.min(100.0))
    };
    Ok(Series::whole(Values::Cpus(mperf.iter().map(|(cpu, it)| (cpu, share(cpu, it))).collect())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    const BEFORE: &str = "at 0\nClocks tsc mperf\n0 1000 500\n1 1000 500\n";

    #[test]
    fn mperf_runs_while_the_clock_does() {
        let after = "at 1000\nClocks tsc mperf\n0 3000 1000\n1 3000 2510\n";
        assert_eq!(measured(&METRIC, BEFORE, after), "0: 25.00\n1: 100.00");
    }

    #[test]
    fn more_mperf_than_tsc_is_nonsense() {
        let after = "at 1000\nClocks tsc mperf\n0 3000 4500\n1 3000 1500\n";
        let expected =
            "0: MPERF holds \"MPERF at 200 % of TSC\", expected no more than TSC counts\n1: 50.00";
        assert_eq!(measured(&METRIC, BEFORE, after), expected);
    }

    #[test]
    fn without_counters_there_is_a_reason() {
        assert_eq!(
            measured(&METRIC, "at 0\n", "at 1000\n"),
            "APERF, MPERF and TSC is not in this copy of the host"
        );
    }
}
