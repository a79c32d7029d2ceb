//! What the scheduler counts: switches, and tasks that waited for a CPU, a disk or memory.

use crate::interval::Interval;
use crate::metric::{Kind, Limits, Metric, Series, Tasks, Unit, Values, each};
use facts::counters::Family;
use facts::{Fact, Missing, PerCpu};
use std::collections::BTreeMap;

/// How long runnable tasks waited for a CPU.
///
/// Source: Documentation/scheduler/sched-stats.rst (/proc/schedstat, run_delay of each CPU; field 2 of
/// /proc/PID/schedstat).
pub(super) const RUN_QUEUE_WAIT: Metric = Metric {
    id: "run-queue-wait",
    title: "time that runnable tasks waited for a CPU",
    column: "Wait_ms",
    unit: Unit::MillisecondsPerSecond,
    kind: Kind::Sum,
    limits: Limits::None,
    families: &[Family::RunTime],
    tasks: Tasks::All,
    help: "Milliseconds of waiting in each second, all tasks together: 1000 means that one task was waiting all the \
           time. By /proc/schedstat where the kernel has it, else by the waiting times of all tasks, counted on \
           the CPU that each ran on last. A wait is added when it ends. Waiting for a cgroup quota counts, too.",
    measure: run_queue_wait,
};

fn run_queue_wait(interval: &Interval) -> Fact<Vec<Series>> {
    let waits = match interval.deltas(Family::RunTime, "wait") {
        Ok(waits) => each(&waits, |delta| Ok(delta.per_second() / 1e6)),
        Err(reason) => of_tasks(interval).map_err(|_| reason)?,
    };
    Ok(Series::whole(Values::Cpus(waits)))
}

/// The waits of every task by the CPU it ran on last.
fn of_tasks(interval: &Interval) -> Fact<PerCpu<f64>> {
    let users = interval.users();
    if users.is_err() && !interval.after.tasks.as_ref().is_ok_and(|it| it.complete) {
        return Err(Missing::not_collected("the waiting time of every task"));
    }
    let (tasks, over_ns) = interval.task_deltas()?;
    let of_tasks = tasks.iter().map(|it| (it.task.cpu, it.wait_ns));
    let of_users = users.iter().flat_map(|it| &it.list).map(|it| (it.cpu, it.wait_ns));
    let mut waits: BTreeMap<u32, u64> = interval.cpus().iter().map(|cpu| (cpu, 0)).collect();
    for (cpu, ns) in of_tasks.chain(of_users) {
        let wait = waits.entry(cpu).or_default();
        *wait = wait.saturating_add(ns);
    }
    Ok(waits.iter().map(|(&cpu, &ns)| (cpu, Ok(ns as f64 * 1e3 / over_ns as f64))).collect())
}

/// How often CPUs went from one task to another.
///
/// Sources: the software event context-switches (perf_event_open(2)) of each CPU; else `ctxt` of /proc/stat, which is of
/// all CPUs together.
pub(super) const CONTEXT_SWITCHES: Metric = Metric {
    id: "context-switches",
    title: "switches from task to task",
    column: "Csw/s",
    unit: Unit::PerSecond,
    kind: Kind::Sum,
    limits: Limits::None,
    families: &[Family::ContextSwitches, Family::Totals],
    tasks: Tasks::None,
    help: "How often the scheduler put another task on the CPU, the idle task included. Of each CPU where perf events \
           may be read; else one number for the whole host, from /proc/stat.",
    measure: context_switches,
};

fn context_switches(interval: &Interval) -> Fact<Vec<Series>> {
    match interval.deltas(Family::ContextSwitches, "switches") {
        Ok(switches) => {
            let rates = each(&switches, |delta| Ok(delta.per_second()));
            Ok(Series::whole(Values::Cpus(rates)))
        }
        Err(reason) => {
            let all = interval.delta(Family::Totals, 0, "ctxt").map_err(|_| reason)?;
            Ok(Series::whole(Values::Host(possible(all.per_second()))))
        }
    }
}

/// Reading the counters takes system calls and wakes tasks: a host without a single switch does not count them.
fn possible(rate: f64) -> Fact<f64> {
    if rate > 0.0 {
        return Ok(rate);
    }
    Err(Missing::malformed("/proc/stat (ctxt)", "a count that stood still", "some context switch"))
}

/// The share of time in which tasks stood still for want of CPU, disk or memory.
///
/// Source: Documentation/accounting/psi.rst, the `total` fields of /proc/pressure/*, in microseconds.
pub(super) const PRESSURE: Metric = Metric {
    id: "pressure",
    title: "share of time in which tasks were held up",
    column: "PSI%",
    unit: Unit::Percent,
    kind: Kind::Mean,
    limits: Limits::From { notable: 10.0, severe: 40.0 },
    families: &[Family::Pressure],
    tasks: Tasks::None,
    help: "A part for each kind: `cpu.some` is the time in which at least one runnable task waited for a CPU, `io.some` \
           for a disk, `memory.some` for memory; `full` that in which no other task did useful work either; \
           `irq.full` that in which interrupts stopped tasks that ran (Linux 6.1 and later). Of the whole host; the kernel weighs its CPUs. Needs CONFIG_PSI, and on some distributions `psi=1`.",
    measure: pressure,
};

const US: u64 = 1000;

fn pressure(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::Pressure)?;
    let series = rows.columns().into_iter().map(|(name, column)| {
        let deltas = rows.deltas(column);
        let share = || {
            let delta =
                deltas.iter().next().map_or(Err(Missing::absent(name)), |(_, it)| it.clone())?;
            delta.percent(US, "/proc/pressure")
        };
        Series::part(name, Values::Host(share()))
    });
    Ok(series.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    const BEFORE: &str = "at 0\nRunTime run wait\n0 5 1000\n1 5 0\n";

    #[test]
    fn waiting_by_time_is_how_many_waited() {
        let after = "at 2000\nRunTime run wait\n0 5 3000001000\n1 5 0\n";
        assert_eq!(measured(&RUN_QUEUE_WAIT, BEFORE, after), "0: 1500.00\n1: 0.00");
    }

    #[test]
    fn without_schedstat_the_tasks_say_how_long_they_waited() {
        let before = "at 0\nCpuTimes idle\n0 0\n1 0\ntask 5 5 postgres user 0 10 10\n";
        let after = "at 1000\nCpuTimes idle\n0 0\n1 0\ntask 5 5 postgres user 1 20 250000010\n\
                     task 6 6 postgres user 1 20 250000000\n";
        assert_eq!(measured(&RUN_QUEUE_WAIT, before, after), "0: 0.00\n1: 500.00");
    }

    #[test]
    fn waits_of_users_that_were_added_up_count_too() {
        let before = "at 0\nCpuTimes idle\n0 0\n1 0\nusers 0\ntask 2 2 kthreadd kernel 0 10 10\n";
        let after = "at 1000\nCpuTimes idle\n0 0\n1 0\nusers 1000\nuser other gzip - 1 5 250000000\n\
                     user other xz - 0 5 100000000\ntask 2 2 kthreadd kernel 0 20 50000010\n";
        assert_eq!(measured(&RUN_QUEUE_WAIT, before, after), "0: 150.00\n1: 250.00");
    }

    #[test]
    fn each_cpu_has_its_own_where_they_are_counted_apart() {
        let before = "at 0\nContextSwitches switches\n0 5\n1 5\nTotals ctxt\n0 50\n";
        let after = "at 500\nContextSwitches switches\n0 505\n1 5\nTotals ctxt\n0 999\n";
        assert_eq!(measured(&CONTEXT_SWITCHES, before, after), "0: 1000.00\n1: 0.00");
    }

    #[test]
    fn else_the_host_has_one_number() {
        let (before, after) = ("at 0\nTotals ctxt\n0 50\n", "at 500\nTotals ctxt\n0 1050\n");
        assert_eq!(measured(&CONTEXT_SWITCHES, before, after), "host: 2000.00");
    }

    #[test]
    fn a_host_that_counts_none_does_not_count() {
        let sample = |ms| format!("at {ms}\nTotals ctxt\n0 50\n");
        assert_eq!(
            measured(&CONTEXT_SWITCHES, &sample(0), &sample(1000)),
            "host: /proc/stat (ctxt): found \"a count that stood still\", expected some context switch"
        );
    }

    #[test]
    fn without_either_source_there_is_a_reason() {
        let expected = "perf event context-switches is not in this copy of the host";
        assert_eq!(measured(&CONTEXT_SWITCHES, "at 0\n", "at 1000\n"), expected);
        let (before, after) = ("at 0\nTotals ctxt\n0 50\n", "at 500\nTotals ctxt\n0 10\n");
        assert_eq!(measured(&CONTEXT_SWITCHES, before, after), expected);
    }

    const STALLED: &str = "at 0\nPressure cpu.some io.some\n0 100 100\n";

    #[test]
    fn time_held_up_is_a_share_of_the_time() {
        let after = "at 2000\nPressure cpu.some io.some\n0 500100 100\n";
        assert_eq!(measured(&PRESSURE, STALLED, after), "cpu.some host: 25.00\nio.some host: 0.00");
    }

    #[test]
    fn more_than_all_of_the_time_and_less_than_none_are_nonsense() {
        let after = "at 2000\nPressure cpu.some io.some\n0 9000100 50\n";
        assert_eq!(
            measured(&PRESSURE, STALLED, after),
            "cpu.some host: /proc/pressure: found \"9000.0 ms within 2000.0 ms\", expected no more time than passed\n\
             io.some host: /proc/pressure (io.some): found \"50 after 100\", expected a counter that does not go backwards"
        );
    }
}
