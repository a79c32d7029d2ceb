//! `kernel-threads`: the CPU time of the kernel's own threads, by name.
//!
//! Sources: /proc/PID/schedstat (Documentation/scheduler/sched-stats.rst); names as kthread_create was given them.

use crate::interval::Interval;
use crate::kernel_threads::family;
use crate::metric::{Kind, Limits, Metric, Series, Tasks, Unit, Values};
use facts::Fact;
use std::collections::BTreeMap;

pub(super) const METRIC: Metric = Metric {
    id: "kernel-threads",
    title: "CPU time of kernel threads, by name",
    column: "Kthr%",
    unit: Unit::Percent,
    kind: Kind::Sum,
    limits: Limits::None,
    families: &[],
    tasks: Tasks::Kernel,
    help: "A part for each name of kernel threads that ran in the interval: their time, of one CPU. Threads that the \
           kernel has one of for each CPU or queue are one part: `kworker/3:1` counts as `kworker`, \
           `ksoftirqd/7` as `ksoftirqd`, `irq/24-nvme0q1` as `irq`, `vhost-1234` as `vhost`; others keep their name, \
           `kipmi0`. A thread that ended in the interval is not in it.",
    measure,
};

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let (tasks, over_ns) = interval.task_deltas()?;
    let mut families: BTreeMap<&str, u64> = BTreeMap::new();
    for delta in tasks.iter().filter(|it| it.task.is_kernel_thread && it.run_ns > 0) {
        let time = families.entry(family(delta.task.name.as_str())).or_default();
        *time = time.saturating_add(delta.run_ns);
    }
    let share = |(name, ns): (&str, u64)| {
        Series::part(name, Values::Host(Ok(100.0 * ns as f64 / over_ns as f64)))
    };
    Ok(families.into_iter().map(share).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measured;

    const BEFORE: &str = "at 0\ntask 2 2 kthreadd kernel 0 5 0\ntask 8 8 kworker/0:1-events kernel 0 5 0\n\
                          task 9 9 kworker/u8:2 kernel 1 5 0\ntask 30 30 kipmi0 kernel 1 5 0\n\
                          task 99 99 postgres user 1 5 0\n";

    #[test]
    fn threads_of_one_name_are_one_and_kipmi0_is_not_among_them() {
        let after = "at 1000\ntask 2 2 kthreadd kernel 0 5 0\ntask 8 8 kworker/0:1 kernel 0 10000005 0\n\
                     task 9 9 kworker/u8:2 kernel 1 5000005 0\ntask 30 30 kipmi0 kernel 1 880000005 0\n\
                     task 99 99 postgres user 1 900000000 0\n";
        assert_eq!(measured(&METRIC, BEFORE, after), "kipmi0 host: 88.00\nkworker host: 1.50");
    }

    #[test]
    fn a_time_that_goes_backwards_is_left_out() {
        let after =
            "at 1000\ntask 8 8 kworker/0:1 kernel 0 1 0\ntask 30 30 kipmi0 kernel 1 10000005 0\n";
        assert_eq!(measured(&METRIC, BEFORE, after), "kipmi0 host: 1.00");
    }
}
