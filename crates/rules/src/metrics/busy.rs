//! `busy`: the share of time a CPU had something to do.
//!
//! Source: proc_stat(5), fs/proc/stat.c. `idle` and `iowait` are exact on a tickless kernel, in units of
//! 10 ms; a short interval therefore shows steps.

use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit, Values};
use facts::counters::Family;
use facts::{Fact, PerCpu};

pub(super) const METRIC: Metric = Metric {
    id: "busy",
    title: "share of time with something to do",
    column: "Busy%",
    unit: Unit::Percent,
    kind: Kind::Mean,
    help: "The time that a CPU was not idle, of the time that passed. Idle time is `idle` and `iowait` of \
           /proc/stat, which is exact on a tickless kernel and counted in steps of 10 ms. Time stolen by a \
           hypervisor counts as busy: somebody wanted the CPU.",
    measure,
};

/// USER_HZ is 100 on every architecture that databases run on (include/asm-generic/param.h).
const NS_PER_TICK: f64 = 1e7;

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let idle = interval.rises(Family::CpuTimes, "idle")?;
    let iowait = interval.rises(Family::CpuTimes, "iowait")?;
    let busy = |(cpu, idle): (u32, &Fact<_>)| {
        let share = || {
            let idle: crate::interval::Rise = idle.clone()?;
            let iowait = iowait.get(cpu).map_or(0, |it| it.as_ref().map_or(0, |it| it.by));
            let free = idle.by.saturating_add(iowait) as f64 * NS_PER_TICK;
            Ok((100.0 * (1.0 - free / idle.over_ns as f64)).clamp(0.0, 100.0))
        };
        (cpu, share())
    };
    let shares: PerCpu<f64> = idle.iter().map(busy).collect();
    Ok(vec![Series { part: String::new(), values: Values::Cpus(shares) }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    const BEFORE: &str = "\
at 0
CpuTimes idle iowait
0 100 5
1 100 5
";

    #[test]
    fn what_is_neither_idle_nor_waiting_for_a_disk_is_busy() {
        let after = "at 1000\nCpuTimes idle iowait\n0 175 10\n1 200 5\n";
        assert_eq!(measured(&METRIC, BEFORE, after), "0: 20.00\n1: 0.00");
    }

    #[test]
    fn a_counter_that_goes_backwards_is_no_share() {
        let after = "at 1000\nCpuTimes idle iowait\n0 90 5\n1 200 5\n";
        let expected = "0: /proc/stat (idle) holds \"90 after 100\", expected a counter that does not go backwards\n1: 0.00";
        assert_eq!(measured(&METRIC, BEFORE, after), expected);
    }

    #[test]
    fn without_the_table_there_is_a_reason() {
        assert_eq!(
            measured(&METRIC, "at 0\n", "at 1000\n"),
            "/proc/stat is not in this copy of the host"
        );
    }
}
