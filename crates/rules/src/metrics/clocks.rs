//! Clocks: how many cycles each CPU did, in all of the time and while busy, and the rate of the time-stamp counter.
//!
//! Sources: Intel SDM volume 3B, "Hardware Feedback using MPERF and APERF"; AMD APM volume 2, "Effective
//! Frequency"; Documentation/virt/kvm/api.rst (KVM_X86_DISABLE_EXITS_APERFMPERF). Where a hypervisor does not give these
//! counters to a guest, the guest reads 0 or a value that stands still.

use crate::interval::{Delta, Interval, Rows};
use crate::metric::{Kind, Limits, Metric, Series, Tasks, Unit, Values, each};
use facts::counters::Family;
use facts::{Fact, HostView, Missing, PerCpu};

/// Cycles done, of all the time that passed: APERF counts in C0 only, and not while the clock is stopped.
pub(super) const AVERAGE_MHZ: Metric = Metric {
    id: "average-mhz",
    title: "cycles done, busy or not",
    column: "Avg_MHz",
    unit: Unit::Megahertz,
    kind: Kind::Mean,
    limits: Limits::None,
    families: &[Family::Clocks],
    tasks: Tasks::None,
    help: "Cycles of APERF by the time that passed: what the CPU did. It falls with idle time and with anything \
           that stops the clock, clock modulation included. Of a CPU that is busy all the time it is the effective \
           clock, and the most trustworthy of the three. Hidden from most guests.",
    measure: average_mhz,
};

fn average_mhz(interval: &Interval) -> Fact<Vec<Series>> {
    let aperf = cycles(interval, "aperf")?;
    Ok(Series::whole(Values::Cpus(each(&aperf, |delta| Ok(delta.per_second() / 1e6)))))
}

/// The clock of a CPU while it ran. Only the ratio of APERF to MPERF is architectural.
///
/// Sources: get_counters in tools/power/x86/turbostat/turbostat.c; Intel's pepc, docs/misc-c1e-cpu-freq.md.
pub(super) const BUSY_MHZ: Metric = Metric {
    id: "busy-mhz",
    title: "clock while busy",
    column: "Bzy_MHz",
    unit: Unit::Megahertz,
    kind: Kind::Peak,
    limits: Limits::BelowTsc { notable: 0.9, severe: 0.5 },
    families: &[Family::Clocks],
    tasks: Tasks::None,
    help: "MHz of the time-stamp counter times APERF to MPERF: the mean clock over the time in C0. Shown of no CPU \
           that was in C0 for less than 5 % of the interval or less than 1 ms: its clock is that of waking up, and of \
           being measured, and says nothing about its speed under load. Clock modulation and forced idle show \
           here only where MPERF goes on while the clock stands still, which depends on the model; `average-mhz` \
           of a CPU that is always busy shows them in any case. In a guest, where it has these counters at all, it \
           is wrong whenever the virtual CPU moved or was not run.",
    measure: busy_mhz,
};

/// Below this share of C0 a processor that leaves C1E looks slow, because its clock still rises: at 5 to 10 % the ramp
/// no longer shows (Intel's pepc, docs/misc-c1e-cpu-freq.md).
const BUSY_SHARE: f64 = 0.05;

/// Reading APERF and MPERF one after the other, by system calls, takes microseconds, and waking the CPU takes tens of
/// microseconds: a thousandth and some hundredths of this.
const BUSY_NS: f64 = 1e6;

/// No processor has run at a higher clock, not even under liquid helium.
const FASTEST_MHZ: f64 = 10_000.0;

fn busy_mhz(interval: &Interval) -> Fact<Vec<Series>> {
    let tsc = cycles(interval, "tsc")?;
    let (aperf, mperf) = (cycles(interval, "aperf")?, cycles(interval, "mperf")?);
    let of = |deltas: &PerCpu<Delta>, cpu| {
        deltas.get(cpu).cloned().unwrap_or_else(|| Err(Missing::absent("APERF, MPERF and TSC")))
    };
    let clocks = mperf.iter().map(|(cpu, mperf)| {
        let clock = || clock(of(&tsc, cpu)?, of(&aperf, cpu)?, mperf.clone()?);
        (cpu, clock())
    });
    Ok(Series::whole(Values::Cpus(clocks.collect())))
}

fn clock(tsc: Delta, aperf: Delta, mperf: Delta) -> Fact<f64> {
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

/// The rate of the time-stamp counter: an invariant one has one rate, whatever the CPU does (Intel SDM volume 3B).
pub(super) const TSC_MHZ: Metric = Metric {
    id: "tsc-mhz",
    title: "rate of the time-stamp counter",
    column: "TSC_MHz",
    unit: Unit::Megahertz,
    kind: Kind::Peak,
    limits: Limits::None,
    families: &[Family::Clocks],
    tasks: Tasks::None,
    help: "Steps of the time-stamp counter by the time that passed on CLOCK_MONOTONIC_RAW. It is about the nominal \
           clock, always, whatever the CPU does: a yardstick, not a speed. One that differs between CPUs or moves \
           over time is broken.",
    measure: tsc_mhz,
};

fn tsc_mhz(interval: &Interval) -> Fact<Vec<Series>> {
    let tsc = cycles(interval, "tsc")?;
    Ok(Series::whole(Values::Cpus(each(&tsc, |delta| Ok(delta.per_second() / 1e6)))))
}

/// One clock counter of every CPU. A counter that stood still is missing, because reading it takes cycles of every clock.
pub(super) fn cycles(interval: &Interval, counter: &str) -> Fact<PerCpu<Delta>> {
    let rows = interval.rows(Family::Clocks)?;
    let column = rows.column(counter)?;
    let moved = |fact: &Fact<Delta>| match fact {
        Ok(delta) if delta.by == 0 => Err(stood_still(&rows, counter, interval.host)),
        fact => fact.clone(),
    };
    Ok(rows.deltas(column).iter().map(|(cpu, fact)| (cpu, moved(fact))).collect())
}

fn stood_still(rows: &Rows, counter: &str, host: &HostView) -> Missing {
    match &host.platform.hypervisor {
        Ok(Some(hypervisor)) => Missing::hidden(counter.to_uppercase(), hypervisor),
        _ => {
            rows.nonsense(counter, "a count that stood still", "a clock that runs while it is read")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{counters, host_of, measured, measured_on};

    #[test]
    fn cycles_are_spread_over_all_of_the_time() {
        let (before, after) =
            ("at 0\nClocks aperf\n0 1\n", "at 2000\nClocks aperf\n0 3000000001\n");
        assert_eq!(measured(&AVERAGE_MHZ, before, after), "0: 1500.00");
    }

    #[test]
    fn a_guest_that_is_shown_no_cycles_did_not_do_none() {
        let guest =
            "//- /proc/cpuinfo\nprocessor : 0\nflags : hypervisor\n//- /sys/hypervisor/type\nxen\n";
        let (before, after) = ("at 0\nClocks aperf\n0 0\n", "at 1000\nClocks aperf\n0 0\n");
        assert_eq!(
            measured_on(guest, &AVERAGE_MHZ, before, after),
            "0: APERF: not available in a guest of xen"
        );
    }

    #[test]
    fn without_aperf_there_is_a_reason() {
        let (before, after) = ("at 0\nClocks tsc\n0 0\n", "at 1000\nClocks tsc\n0 9\n");
        assert_eq!(measured(&AVERAGE_MHZ, before, after), "aperf does not exist");
    }

    const BEFORE: &str = "at 0\nClocks tsc aperf mperf\n0 1 1 1\n1 1 1 1\n";

    fn after(cpu0: &str, cpu1: &str) -> String {
        format!("at 1000\nClocks tsc aperf mperf\n0 {cpu0}\n1 {cpu1}\n")
    }

    #[test]
    fn aperf_to_mperf_is_the_clock_of_busy_time_only() {
        let after = after("2000000001 1500000001 1000000001", "2000000001 70000001 100000001");
        assert_eq!(measured(&BUSY_MHZ, BEFORE, &after), "0: 3000.00\n1: 1400.00");
    }

    #[test]
    fn a_cpu_that_was_not_busy_has_no_clock() {
        let after = after("2000000001 90000001 99000001", "2000000001 2 2");
        let line = "no clock while busy here: the CPU was not busy";
        assert_eq!(measured(&BUSY_MHZ, BEFORE, &after), format!("0: {line}\n1: {line}"));
    }

    #[test]
    fn a_short_interval_is_too_short_to_be_busy_in() {
        let after =
            "at 2\nClocks tsc aperf mperf\n0 4000001 1800001 1800001\n1 4000001 3000001 3000001\n";
        assert_eq!(
            measured(&BUSY_MHZ, BEFORE, after),
            "0: no clock while busy here: the CPU was not busy\n1: 2000.00"
        );
    }

    #[test]
    fn without_mperf_there_is_a_reason() {
        let sample = |ms: u32| format!("at {ms}\nClocks tsc aperf\n0 {ms} {ms}\n");
        assert_eq!(measured(&BUSY_MHZ, &sample(0), &sample(1000)), "mperf does not exist");
    }

    #[test]
    fn in_a_guest_both_must_move() {
        let guest =
            "//- /proc/cpuinfo\nprocessor : 0\nflags : hypervisor\n//- /sys/hypervisor/type\nxen\n";
        let after = after("2000000001 1 1000000001", "2000000001 1000000001 1");
        let expected =
            "0: APERF: not available in a guest of xen\n1: MPERF: not available in a guest of xen";
        assert_eq!(measured_on(guest, &BUSY_MHZ, BEFORE, &after), expected);
    }

    #[test]
    fn a_clock_that_no_processor_has_is_nonsense() {
        let after = after("2000000001 9000000001 1000000001", "2000000001 0 1000000001");
        let expected = "0: APERF: found \"9000000000 cycles in 1000000000 of MPERF\", expected no more than 10 GHz\n\
                        1: APERF, MPERF and TSC (aperf): found \"0 after 1\", expected a counter that does not go backwards";
        assert_eq!(measured(&BUSY_MHZ, BEFORE, &after), expected);
    }

    const AT_5: &str = "at 0\nClocks tsc\n0 5\n";

    #[test]
    fn one_that_stands_still_has_no_rate() {
        assert_eq!(
            measured(&TSC_MHZ, AT_5, "at 500\nClocks tsc\n0 5\n"),
            "0: APERF, MPERF and TSC (tsc): found \"a count that stood still\", expected a clock that runs while it is read"
        );
    }

    #[test]
    fn a_clock_that_stood_still_is_hidden_in_a_guest_and_nonsense_elsewhere() {
        let before = counters("at 0\nClocks tsc aperf\n0 5 7\n");
        let after = counters("at 1000\nClocks tsc aperf\n0 9 7\n");
        let reason = |excerpt: &str| {
            let host = host_of(excerpt);
            let interval = Interval { host: &host, before: &before, after: &after };
            let deltas = cycles(&interval, "aperf").unwrap();
            deltas.get(0).unwrap().clone().unwrap_err().to_string()
        };
        let guest =
            "//- /proc/cpuinfo\nprocessor : 0\nflags : hypervisor\n//- /sys/hypervisor/type\nxen\n";
        assert_eq!(reason(guest), "APERF: not available in a guest of xen");
        assert_eq!(
            reason("//- /proc/cpuinfo\nprocessor : 0\nflags : tsc\n"),
            "APERF, MPERF and TSC (aperf): found \"a count that stood still\", expected a clock that runs while it is read"
        );
    }
}
