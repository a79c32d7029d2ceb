//! What a CPU did in an interval, to the nanosecond.

use super::{Cause, Comm};
use std::collections::BTreeMap;

/// Where every nanosecond of one CPU's interval went; what interrupts, softirqs included, took is carved
/// out of what they interrupted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTotals {
    /// The length of the interval, in ns.
    pub wall_ns: u64,
    /// Time of which the events do not tell whose it was, in ns: around lost events, and all of it where
    /// there was no event.
    pub unknown_ns: u64,
    /// Time in the idle task, in ns.
    pub idle_ns: u64,
    /// The tasks that ran, by thread id, without the idle task.
    pub tasks: BTreeMap<i32, TaskTime>,
    /// The interrupts and softirqs that began, were running or ended.
    pub causes: BTreeMap<Cause, CauseTime>,
    /// How often the CPU went from one task to another, the idle task included.
    pub switches: u64,
    /// How often the kernel tried to stop the tick, by outcome.
    pub tick_stops: BTreeMap<TickStop, u64>,
    /// How many events were lost.
    pub lost: u64,
}

/// One task's time on one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskTime {
    /// Its name when it last left the CPU; empty where no switch named it.
    pub comm: Comm,
    /// Time on the CPU less interrupts and softirqs, in ns.
    pub run_ns: u64,
    /// How many interrupts came while it ran; softirqs, which run on their way out, are not counted.
    pub interrupts: u64,
    /// What they took, softirqs included, in ns.
    pub interrupted_ns: u64,
}

/// One kind of interrupt's, or one softirq's, time on one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CauseTime {
    /// How often it began.
    pub count: u64,
    /// How often it was an interrupt that a task was left for: not the idle task, a softirq or another interrupt.
    pub from_tasks: u64,
    /// Time it took while the idle task had the CPU, in ns.
    pub in_idle_ns: u64,
    /// Time it took while another task had the CPU, in ns.
    pub in_task_ns: u64,
}

/// One attempt to stop the tick (timer:tick_stop).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TickStop {
    /// What held the tick, as a mask: 0 none, 1 POSIX_TIMER, 2 PERF_EVENTS, 4 SCHED, 8 CLOCK_UNSTABLE, 16 RCU,
    /// 32 RCU_EXP (include/linux/tick.h). The kernel names the first that it meets, not all.
    pub dependency: u32,
    /// Whether the tick was stopped.
    pub success: bool,
}

impl CauseTime {
    /// All the time it took, in ns.
    pub fn ns(&self) -> u64 {
        self.in_idle_ns.saturating_add(self.in_task_ns)
    }
}

impl CpuTotals {
    /// Whether switches between tasks were traced: without them nobody knows who ran, the idle task included.
    pub fn shows_switches(&self) -> bool {
        !self.tasks.is_empty() || self.idle_ns > 0
    }

    /// Time in tasks other than the idle task, in ns.
    pub fn task_ns(&self) -> u64 {
        self.tasks.values().fold(0, |sum, task| sum.saturating_add(task.run_ns))
    }

    /// Time in interrupts and softirqs, in ns.
    pub fn interrupted_ns(&self) -> u64 {
        self.causes.values().fold(0, |sum, cause| sum.saturating_add(cause.ns()))
    }

    /// Adds the interval that follows.
    pub fn extend(&mut self, next: &CpuTotals) {
        let add = |to: &mut u64, by: u64| *to = to.saturating_add(by);
        add(&mut self.wall_ns, next.wall_ns);
        add(&mut self.unknown_ns, next.unknown_ns);
        add(&mut self.idle_ns, next.idle_ns);
        add(&mut self.switches, next.switches);
        add(&mut self.lost, next.lost);
        for (&tid, task) in &next.tasks {
            let sum = self.tasks.entry(tid).or_default();
            add(&mut sum.run_ns, task.run_ns);
            add(&mut sum.interrupts, task.interrupts);
            add(&mut sum.interrupted_ns, task.interrupted_ns);
            if !task.comm.is_empty() {
                sum.comm = task.comm;
            }
        }
        for (&cause, time) in &next.causes {
            let sum = self.causes.entry(cause).or_default();
            add(&mut sum.count, time.count);
            add(&mut sum.from_tasks, time.from_tasks);
            add(&mut sum.in_idle_ns, time.in_idle_ns);
            add(&mut sum.in_task_ns, time.in_task_ns);
        }
        for (&stop, &count) in &next.tick_stops {
            add(self.tick_stops.entry(stop).or_default(), count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_intervals_in_a_row_are_one() {
        let of = |comm: &str, ns: u64| {
            let task =
                TaskTime { comm: Comm::new(comm), run_ns: ns, interrupts: 1, interrupted_ns: ns };
            let cause = CauseTime { count: 1, from_tasks: 1, in_idle_ns: 0, in_task_ns: ns };
            CpuTotals {
                wall_ns: 10 * ns,
                idle_ns: ns,
                tasks: [(7, task)].into(),
                causes: [(Cause::LocalTimer, cause)].into(),
                ..CpuTotals::default()
            }
        };
        let mut both = of("postgres", 2);
        both.extend(&of("", 3));
        assert_eq!(
            (both.wall_ns, both.idle_ns, both.task_ns(), both.interrupted_ns()),
            (50, 5, 5, 5)
        );
        assert_eq!(both.tasks[&7].comm, Comm::new("postgres"));
        assert_eq!((both.tasks[&7].interrupts, both.tasks[&7].interrupted_ns), (2, 5));
        let ticks = both.causes[&Cause::LocalTimer];
        assert_eq!((ticks.count, ticks.from_tasks), (2, 2));
    }
}
