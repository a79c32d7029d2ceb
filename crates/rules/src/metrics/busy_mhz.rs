//! `busy-mhz`: the clock a CPU ran at while it ran.
//!
//! Sources: Intel SDM volume 3B, "Hardware Feedback using MPERF and APERF" (only the ratio is architectural);
//! get_counters in tools/power/x86/turbostat/turbostat.c; Intel's pepc, docs/misc-c1e-cpu-freq.md.

use crate::cycles::cycles;
use crate::interval::{Interval, Rise};
use crate::metric::{Kind, Metric, Series, Unit, Values};
use facts::counters::Family;
use facts::{Fact, Missing, PerCpu};

pub(super) const METRIC: Metric = Metric {
    id: "busy-mhz",
    title: "clock while busy",
    column: "Bzy_MHz",
    unit: Unit::Megahertz,
    kind: Kind::Peak,
    families: &[Family::Clocks],
    tasks: false,
    help: "MHz of the time-stamp counter times APERF to MPERF: the mean clock over the time in C0. Shown of no CPU \
           that was in C0 for less than 5 % of the interval or less than 1 ms: its clock is that of waking up, and of \
           being measured, and says nothing about its speed under load. Clock modulation and forced idle show \
           here only where MPERF goes on while the clock stands still, which depends on the model; `average-mhz` \
           of a CPU that is always busy shows them in any case. In a guest, where it has these counters at all, it \
           is wrong whenever the virtual CPU moved or was not run.",
    measure,
};

/// Below this share of C0 a processor that leaves C1E looks slow, because it is still on its way up: at 5 to 10 %
/// the ramp no longer shows (Intel's pepc, docs/misc-c1e-cpu-freq.md).
const BUSY_SHARE: f64 = 0.05;

/// Reading APERF and MPERF one after the other, by system calls, takes microseconds, and waking the CPU for it
/// tens of them: a thousandth and some hundredths of this.
const BUSY_NS: f64 = 1e6;

/// No processor has run at a higher clock, not even under liquid helium.
const FASTEST_MHZ: f64 = 10_000.0;

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let tsc = cycles(interval, "tsc")?;
    let (aperf, mperf) = (cycles(interval, "aperf")?, cycles(interval, "mperf")?);
    let of = |rises: &PerCpu<Rise>, cpu| {
        rises.get(cpu).cloned().unwrap_or_else(|| Err(Missing::absent("APERF, MPERF and TSC")))
    };
    let clocks = mperf.iter().map(|(cpu, mperf)| {
        let clock = || clock(of(&tsc, cpu)?, of(&aperf, cpu)?, mperf.clone()?);
        (cpu, clock())
    });
    Ok(Series::whole(Values::Cpus(clocks.collect())))
}

fn clock(tsc: Rise, aperf: Rise, mperf: Rise) -> Fact<f64> {
    let share = mperf.by as f64 / tsc.by as f64;
    if share < BUSY_SHARE || share * (tsc.over_ns as f64) < BUSY_NS {
        return Err(Missing::not_here("clock while busy", "the CPU was not busy"));
    }
    let mhz = tsc.per_second() / 1e6 * aperf.by as f64 / mperf.by as f64;
    if mhz > FASTEST_MHZ {
        let found = format!("{} cycles in {} of MPERF", aperf.by, mperf.by);
        return Err(Missing::malformed("APERF", &found, "no more than 10 GHz"));
    }
    Ok(mhz)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{measured, measured_on};

    const BEFORE: &str = "at 0\nClocks tsc aperf mperf\n0 1 1 1\n1 1 1 1\n";

    fn after(cpu0: &str, cpu1: &str) -> String {
        format!("at 1000\nClocks tsc aperf mperf\n0 {cpu0}\n1 {cpu1}\n")
    }

    #[test]
    fn aperf_to_mperf_is_the_clock_of_busy_time_only() {
        let after = after("2000000001 1500000001 1000000001", "2000000001 70000001 100000001");
        assert_eq!(measured(&METRIC, BEFORE, &after), "0: 3000.00\n1: 1400.00");
    }

    #[test]
    fn a_cpu_that_was_not_busy_has_no_clock() {
        let after = after("2000000001 90000001 99000001", "2000000001 2 2");
        let line = "no clock while busy here: the CPU was not busy";
        assert_eq!(measured(&METRIC, BEFORE, &after), format!("0: {line}\n1: {line}"));
    }

    #[test]
    fn a_short_interval_is_too_short_to_be_busy_in() {
        let after =
            "at 2\nClocks tsc aperf mperf\n0 4000001 1800001 1800001\n1 4000001 3000001 3000001\n";
        assert_eq!(
            measured(&METRIC, BEFORE, after),
            "0: no clock while busy here: the CPU was not busy\n1: 2000.00"
        );
    }

    #[test]
    fn without_mperf_there_is_a_reason() {
        let sample = |ms: u32| format!("at {ms}\nClocks tsc aperf\n0 {ms} {ms}\n");
        assert_eq!(measured(&METRIC, &sample(0), &sample(1000)), "mperf does not exist");
    }

    #[test]
    fn in_a_guest_both_must_move() {
        let guest =
            "//- /proc/cpuinfo\nprocessor : 0\nflags : hypervisor\n//- /sys/hypervisor/type\nxen\n";
        let after = after("2000000001 1 1000000001", "2000000001 1000000001 1");
        let expected =
            "0: APERF is hidden from a guest of xen\n1: MPERF is hidden from a guest of xen";
        assert_eq!(measured_on(guest, &METRIC, BEFORE, &after), expected);
    }

    #[test]
    fn a_clock_that_no_processor_has_is_nonsense() {
        let after = after("2000000001 9000000001 1000000001", "2000000001 0 1000000001");
        let expected = "0: APERF holds \"9000000000 cycles in 1000000000 of MPERF\", expected no more than 10 GHz\n\
                        1: APERF, MPERF and TSC (aperf) holds \"0 after 1\", expected a counter that does not go backwards";
        assert_eq!(measured(&METRIC, BEFORE, &after), expected);
    }
}
