//! `run-queue-wait`: how long tasks that could run waited for a CPU.
//!
//! Sources: Documentation/scheduler/sched-stats.rst (/proc/schedstat, run_delay of each CPU; field 2 of
//! /proc/PID/schedstat).

use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit, Values, each};
use facts::counters::Family;
use facts::{Fact, Missing, PerCpu};
use std::collections::BTreeMap;

pub(super) const METRIC: Metric = Metric {
    id: "run-queue-wait",
    title: "time that runnable tasks waited for a CPU",
    column: "Wait_ms",
    unit: Unit::MillisecondsPerSecond,
    kind: Kind::Sum,
    families: &[Family::RunTime],
    tasks: true,
    help: "Milliseconds of waiting in each second, all tasks together: 1000 means that one task was waiting all the \
           time. By /proc/schedstat where the kernel has it, else by the waiting times of all tasks, counted on \
           the CPU that each ran on last. A wait is added when it ends. Waiting for a cgroup quota counts, too.",
    measure,
};

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let waits = match interval.rises(Family::RunTime, "wait") {
        Ok(waits) => each(&waits, |rise| Ok(rise.per_second() / 1e6)),
        Err(reason) => of_tasks(interval).map_err(|_| reason)?,
    };
    Ok(Series::whole(Values::Cpus(waits)))
}

/// The waits of every task by the CPU it ran on last.
fn of_tasks(interval: &Interval) -> Fact<PerCpu<f64>> {
    if !interval.after.tasks.as_ref().is_ok_and(|it| it.complete) {
        return Err(Missing::not_collected("the waiting time of every task"));
    }
    let (tasks, over_ns) = interval.task_rises()?;
    let mut waits: BTreeMap<u32, u64> = interval.cpus().iter().map(|cpu| (cpu, 0)).collect();
    for rise in &tasks {
        let wait = waits.entry(rise.task.cpu).or_default();
        *wait = wait.saturating_add(rise.wait_ns);
    }
    Ok(waits.iter().map(|(&cpu, &ns)| (cpu, Ok(ns as f64 * 1e3 / over_ns as f64))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    const BEFORE: &str = "at 0\nRunTime run wait\n0 5 1000\n1 5 0\n";

    #[test]
    fn waiting_by_time_is_how_many_waited() {
        let after = "at 2000\nRunTime run wait\n0 5 3000001000\n1 5 0\n";
        assert_eq!(measured(&METRIC, BEFORE, after), "0: 1500.00\n1: 0.00");
    }

    #[test]
    fn without_schedstat_the_tasks_say_how_long_they_waited() {
        let before = "at 0\nCpuTimes idle\n0 0\n1 0\ntask 5 5 postgres user 0 10 10\n";
        let after = "at 1000\nCpuTimes idle\n0 0\n1 0\ntask 5 5 postgres user 1 20 250000010\n\
                     task 6 6 postgres user 1 20 250000000\n";
        assert_eq!(measured(&METRIC, before, after), "0: 0.00\n1: 500.00");
    }

    #[test]
    fn a_count_that_goes_backwards_is_no_wait() {
        let after = "at 2000\nRunTime run wait\n0 5 1\n1 5 0\n";
        assert_eq!(
            measured(&METRIC, BEFORE, after),
            "0: /proc/schedstat (wait) holds \"1 after 1000\", expected a counter that does not go backwards\n1: 0.00"
        );
    }

    #[test]
    fn without_either_source_there_is_a_reason() {
        assert_eq!(
            measured(&METRIC, "at 0\n", "at 1000\n"),
            "/proc/schedstat is not in this copy of the host"
        );
    }
}
