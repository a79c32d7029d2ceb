//! `idle-requested`: the share of time in each idle state that the kernel requested.
//!
//! Sources: Documentation/admin-guide/pm/cpuidle.rst (`time`), drivers/cpuidle/cpuidle.c. The time of a sleep is
//! added when it ends, so the states of a CPU that slept on through a sample are short of it.

use crate::interval::{Delta, Interval};
use crate::metric::{Kind, Limits, Metric, Series, Tasks, Unit, Values};
use facts::counters::Family;
use facts::{Fact, Missing, PerCpu, USER_TICK_NS};

pub(super) const METRIC: Metric = Metric {
    id: "idle-requested",
    title: "share of time for which each idle state was requested",
    column: "Req%",
    unit: Unit::Percent,
    kind: Kind::Mean,
    limits: Limits::None,
    families: &[Family::IdleTime, Family::CpuTimes],
    tasks: Tasks::None,
    help: "A part for each idle state: the time that the kernel (cpuidle) spent in it. It is what was *requested*: \
           the hardware may have gone to a shallower state (`core-residency` says which it reached), and a \
           core goes no deeper than the shallower of its threads. The kernel adds a sleep's time when it ends; \
           where the states' time and the idle time of /proc/stat are apart, nothing is shown for the CPU.",
    measure,
};

const US: u64 = 1000;
/// The share of the interval by which idle time and the states' time may be apart, beyond two ticks: entering
/// and leaving a state is in one and not in the other.
const APART: f64 = 0.05;

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::IdleTime)?;
    let columns = rows.columns();
    let all: Vec<_> = columns.iter().map(|(_, column)| *column).collect();
    let closed = closed(&rows.sums(&all), interval);
    let series = columns.iter().map(|(name, column)| {
        let share = |(cpu, delta): (u32, &Fact<Delta>)| {
            let of_cpu = || {
                closed.get(cpu).cloned().unwrap_or(Ok(()))?;
                delta.clone()?.percent(US, "cpuidle/stateN/time")
            };
            (cpu, of_cpu())
        };
        Series::part(name, Values::Cpus(rows.deltas(*column).iter().map(share).collect()))
    });
    Ok(series.collect())
}

/// Whether the time in all states is the idle time of each CPU; without /proc/stat, whether there was any.
fn closed(sums: &PerCpu<Delta>, interval: &Interval) -> PerCpu<()> {
    let times = interval.rows(Family::CpuTimes).ok().and_then(|rows| {
        let columns = [rows.column("idle").ok()?, rows.column("iowait").ok()?];
        Some(rows.sums(&columns))
    });
    let check = |(cpu, sum): (u32, &Fact<Delta>)| {
        let verdict = || {
            let sum = sum.clone()?;
            let idle = times.as_ref().and_then(|it| it.get(cpu)?.as_ref().ok());
            let idle_ns = match idle {
                Some(idle) => idle.by.saturating_mul(USER_TICK_NS),
                None if sum.by > 0 => return Ok(()),
                None => sum.over_ns,
            };
            let states_ns = sum.by.saturating_mul(US);
            let apart = idle_ns.abs_diff(states_ns) as f64;
            if apart <= APART * sum.over_ns as f64 + 2.0 * USER_TICK_NS as f64 {
                return Ok(());
            }
            let ms = |ns: u64| ns as f64 / 1e6;
            let found = format!("{:.1} ms of {:.1} ms idle", ms(states_ns), ms(idle_ns));
            let expected = "the idle time (a sleep is added when it ends)";
            Err(Missing::malformed("cpuidle/stateN/time", &found, expected))
        };
        (cpu, verdict())
    };
    sums.iter().map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    const BEFORE: &str =
        "at 0\nCpuTimes idle iowait\n0 0 0\n1 0 0\nIdleTime POLL C6\n0 5 5\n1 5 5\n";

    #[test]
    fn each_state_has_its_share_of_the_time() {
        let after = "at 1000\nCpuTimes idle iowait\n0 60 0\n1 90 10\nIdleTime POLL C6\n0 1005 600005\n1 5 1000005\n";
        assert_eq!(
            measured(&METRIC, BEFORE, after),
            "POLL 0: 0.10\nPOLL 1: 0.00\nC6 0: 60.00\nC6 1: 100.00"
        );
    }

    #[test]
    fn a_sleep_that_goes_on_is_not_yet_counted_and_not_none() {
        let after =
            "at 1000\nCpuTimes idle iowait\n0 100 0\n1 50 0\nIdleTime POLL C6\n0 5 5\n1 5 500005\n";
        let reason = "cpuidle/stateN/time: found \"0.0 ms of 1000.0 ms idle\", expected the idle time (a sleep is added when it ends)";
        assert_eq!(
            measured(&METRIC, BEFORE, after),
            format!("POLL 0: {reason}\nPOLL 1: 0.00\nC6 0: {reason}\nC6 1: 50.00")
        );
    }

    #[test]
    fn a_sleep_from_before_the_interval_is_not_of_it() {
        let (before, after) = ("at 0\nIdleTime C6\n0 0\n", "at 1000\nIdleTime C6\n0 3000000\n");
        assert_eq!(
            measured(&METRIC, before, after),
            "C6 0: cpuidle/stateN/time: found \"3000.0 ms within 1000.0 ms\", expected no more time than passed"
        );
    }

    #[test]
    fn no_time_at_all_is_nothing_without_proc_stat() {
        let (before, after) = ("at 0\nIdleTime C6\n0 7\n", "at 1000\nIdleTime C6\n0 7\n");
        assert!(measured(&METRIC, before, after).starts_with("C6 0: cpuidle/stateN/time: found"));
    }
}
