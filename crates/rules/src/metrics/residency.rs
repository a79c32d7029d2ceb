//! The share of time each core and each package spent in each C-state, by the hardware's counters, which count TSC cycles.
//!
//! Sources: Intel SDM volume 4, MSR_CORE_C6_RESIDENCY and similar registers; arch/x86/events/intel/cstate.c, which says what models
//! count which states.

use super::clocks::cycles;
use crate::interval::{Delta, Interval};
use crate::metric::{Kind, Limits, Metric, Series, Tasks, Unit, Values};
use facts::counters::Family;
use facts::{Fact, Missing, PerCpu};

pub(super) const CORE_RESIDENCY: Metric = Metric {
    id: "core-residency",
    title: "share of time each core spent in each C-state",
    column: "CPU%",
    unit: Unit::Percent,
    kind: Kind::Mean,
    limits: Limits::None,
    families: &[Family::CoreResidency, Family::Clocks],
    tasks: Tasks::None,
    help: "A part for each C-state that the processor counts: the time that the core, all its threads together, really spent there. It is what the *hardware* did; what the kernel requested is `idle-requested`. A core sleeps as deep as the shallowest request of its threads lets it, and the processor may decide for less. Which states are counted depends on the model: many do not count C1.",
    measure: |interval| residency(interval, Family::CoreResidency, Values::Cores),
};

pub(super) const PACKAGE_RESIDENCY: Metric = Metric {
    id: "package-residency",
    title: "share of time each package spent in each C-state",
    column: "Pkg%p",
    unit: Unit::Percent,
    kind: Kind::Mean,
    limits: Limits::None,
    families: &[Family::PackageResidency, Family::Clocks],
    tasks: Tasks::None,
    help: "A part for each C-state of the package that the processor counts: the time in which all of its cores and its uncore slept that deep. A package that never gets beyond C2 has a core, a device or a limit that keeps it awake.",
    measure: |interval| residency(interval, Family::PackageResidency, Values::Packages),
};

/// More than 100 % within this, because the two counters are read one after the other.
const MOST: f64 = 102.0;

/// A series for each state of `family`, in percent of the time.
fn residency(
    interval: &Interval,
    family: Family,
    values: fn(PerCpu<f64>) -> Values,
) -> Fact<Vec<Series>> {
    let rows = interval.rows(family)?;
    let tsc = cycles(interval, "tsc")?;
    let columns = rows.columns();
    if let Ok(Some(hypervisor)) = &interval.host.platform.hypervisor
        && columns.iter().all(|(_, column)| rows.total(*column) == 0)
    {
        return Err(Missing::hidden(family.source(), hypervisor));
    }
    let any = tsc.known().next().map(|(_, delta)| *delta);
    let any = any.ok_or_else(|| {
        tsc.missing().cloned().unwrap_or_else(|| Missing::absent(Family::Clocks.source()))
    })?;
    let series = columns.iter().map(|(name, column)| {
        let share = |(cpu, delta): (u32, &Fact<Delta>)| {
            let of_cpu = || {
                // The counters of one package run at one rate, and every package's at the same.
                let of_cpu = tsc.get(cpu).and_then(|it| it.as_ref().ok()).copied();
                let tsc = of_cpu.unwrap_or(any);
                let delta = delta.clone()?;
                let share = 100.0 * delta.per_second() / tsc.per_second();
                if share > MOST {
                    let found = format!("{share:.0} % of TSC");
                    return Err(rows.nonsense(name, &found, "no more than TSC counts"));
                }
                Ok(share.min(100.0))
            };
            (cpu, of_cpu())
        };
        Series::part(name, values(rows.deltas(*column).iter().map(share).collect()))
    });
    Ok(series.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{measured, measured_on};

    /// Each metric with the name of its family.
    const BOTH: [(&Metric, &str); 2] =
        [(&CORE_RESIDENCY, "CoreResidency"), (&PACKAGE_RESIDENCY, "PackageResidency")];

    fn before(table: &str) -> String {
        format!("at 0\nClocks tsc\n0 0\n1 0\n{table} c1 c6\n0 10 20\n")
    }

    fn after(table: &str, row: &str) -> String {
        format!("at 1000\nClocks tsc\n0 1000000\n1 1000000\n{table} c1 c6\n{row}\n")
    }

    #[test]
    fn cycles_in_a_state_are_a_share_of_all_cycles() {
        for (metric, table) in BOTH {
            let after = after(table, "0 250010 500020");
            assert_eq!(measured(metric, &before(table), &after), "c1 0: 25.00\nc6 0: 50.00");
        }
    }

    #[test]
    fn more_cycles_than_there_were_are_nonsense() {
        for (metric, table) in BOTH {
            let source = metric.families[0].source();
            assert_eq!(
                measured(metric, &before(table), &after(table, "0 5 3000020")),
                format!(
                    "c1 0: {source} (c1): found \"5 after 10\", expected a counter that does not go backwards\n\
                     c6 0: {source} (c6): found \"300 % of TSC\", expected no more than TSC counts"
                )
            );
        }
    }

    #[test]
    fn counters_that_a_guest_reads_as_zero_are_hidden_from_it() {
        let guest =
            "//- /proc/cpuinfo\nprocessor : 0\nflags : hypervisor\n//- /sys/hypervisor/type\nxen\n";
        for (metric, table) in BOTH {
            let zeros = |ms: u32| format!("at {ms}\nClocks tsc\n0 {ms}\n{table} c1 c6\n0 0 0\n");
            let expected =
                format!("{}: not available in a guest of xen", metric.families[0].source());
            assert_eq!(measured_on(guest, metric, &zeros(0), &zeros(1000)), expected);
        }
    }
}
