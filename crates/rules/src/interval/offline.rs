//! CPUs that were offline for part of an interval, although both samples show them online.
//!
//! The kernel removes perf events with their CPU (kernel/events/core.c, perf_event_exit_cpu), and the samples of such
//! events say so. Without perf, two signs are needed: the hotplug thread of the CPU, `cpuhp/N` (kernel/cpu.c), ran; and
//! /proc/stat, which counts nothing for an offline CPU, lacks time or restarted. One sign is not enough: loading a module
//! also runs that thread, and a guest loses ticks. An absence that is shorter than the slack below is not detected.

use super::{Delta, Interval};
use facts::counters::{Family, Task, Tasks};
use facts::{Fact, Missing, PerCpu, USER_TICK_NS, Why};
use std::collections::BTreeSet;

/// The families whose counts are perf events that stay on their CPU.
const OF_PERF: &[Family] = &[Family::ContextSwitches, Family::Clocks, Family::TimerEntries];

/// All time of a CPU in /proc/stat; the other columns are parts of these (proc_stat(5)).
const OF_STAT: &[&str] = &["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

/// The share of the time that /proc/stat may lack because of lost ticks; a shorter absence would not matter.
const LOST_TICKS: f64 = 0.05;

impl Interval<'_> {
    /// The CPUs that were offline for part of the interval and are online at both ends, ascending, each with the
    /// reason why its counts have no difference.
    pub fn offline(&self) -> Vec<(u32, Missing)> {
        let by_perf: Vec<PerCpu<Delta>> =
            OF_PERF.iter().filter_map(|family| self.rows(*family).ok()?.any_deltas()).collect();
        let plugged = self.plugged();
        let is_offline = |cpu: u32| {
            let is_told = |deltas: &PerCpu<Delta>| matches!(deltas.get(cpu), Some(Err(why)) if why.tells_of_offline(cpu));
            by_perf.iter().any(is_told) || (plugged.contains(&cpu) && self.lacks_time(cpu))
        };
        let cpus = self.cpus();
        let offline = cpus.iter().filter(|cpu| is_offline(*cpu));
        offline
            .map(|cpu| (cpu, Missing::was_offline(format!("counts of CPU {cpu}"), cpu)))
            .collect()
    }

    /// The CPUs whose hotplug thread ran.
    fn plugged(&self) -> BTreeSet<u32> {
        let (Ok(before), Ok(after)) = (&self.before.tasks, &self.after.tasks) else {
            return BTreeSet::new();
        };
        let cpu_of = |task: &Task| task.name.as_str().strip_prefix("cpuhp/")?.parse().ok();
        let ran = |task: &Task, earlier: &Tasks| {
            let was = earlier.get(task.tid).filter(|it| it.is_same(task));
            was.is_some_and(|it| task.run_ns > it.run_ns)
        };
        let threads = after.list.iter().filter(|it| it.is_kernel_thread);
        threads
            .filter_map(|it| Some((cpu_of(it)?, it)))
            .filter(|(_, it)| ran(it, before))
            .map(|(cpu, _)| cpu)
            .collect()
    }

    /// Whether /proc/stat restarted for a CPU, or shows less time than has passed.
    fn lacks_time(&self, cpu: u32) -> bool {
        let delta = |column: &&str| self.delta(Family::CpuTimes, cpu, column);
        let deltas: Fact<Vec<Delta>> = OF_STAT.iter().map(delta).collect();
        match deltas {
            Ok(deltas) => {
                let over_ns = deltas.first().map_or(0, |it| it.over_ns);
                let ticks = deltas.iter().fold(0, |sum: u64, it| sum.saturating_add(it.by));
                // Each column is cut to whole ticks.
                let slack = (OF_STAT.len() as u64).saturating_mul(USER_TICK_NS) as f64;
                let counted = ticks.saturating_mul(USER_TICK_NS) as f64;
                counted + slack < over_ns as f64 * (1.0 - LOST_TICKS)
            }
            // The kernel's documents let `iowait` go backwards by itself.
            Err(_) => matches!(
                self.delta(Family::CpuTimes, cpu, "idle"),
                Err(Missing { why: Why::Malformed { .. }, .. })
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{counters, host_of};
    use crate::interval::Interval;
    use facts::Missing;
    use facts::counters::{Counters, Family};

    const COLUMNS: &str = "CpuTimes user nice system idle iowait irq softirq steal";

    /// Two CPUs; of CPU 1, the time that its hotplug thread ran and its idle ticks at the end of a second.
    fn samples(hotplug_ns: u32, idle: u32) -> [Counters; 2] {
        let before = format!(
            "at 0\n{COLUMNS}\n0 0 0 0 50 0 0 0 0\n1 0 0 0 50 0 0 0 0\n\
             ContextSwitches switches\n0 0\n1 0\ntask 19 19 cpuhp/1 kernel 1 100 0\n"
        );
        let after = format!(
            "at 1000\n{COLUMNS}\n0 0 0 0 150 0 0 0 0\n1 0 0 0 {idle} 0 0 0 0\n\
             ContextSwitches switches\n0 9\n1 9\ntask 19 19 cpuhp/1 kernel 1 {hotplug_ns} 0\n"
        );
        [counters(&before), counters(&after)]
    }

    fn offline([before, after]: &[Counters; 2]) -> String {
        let host = host_of("");
        let offline = Interval { host: &host, before, after }.offline();
        offline.iter().map(|(cpu, why)| format!("{cpu}: {why}\n")).collect()
    }

    const CPU_1: &str =
        "1: counts of CPU 1 cannot be read: CPU 1 was offline for part of the interval\n";

    #[test]
    fn a_perf_event_that_ended_with_its_cpu_tells() {
        let mut samples = samples(100, 150);
        assert_eq!(offline(&samples), "");
        if let Ok(table) = samples[1].table_mut(Family::ContextSwitches) {
            table.blank_row(1, Missing::was_offline("perf group", 1));
        }
        assert_eq!(offline(&samples), CPU_1);
    }

    #[test]
    fn a_perf_event_that_ended_for_another_reason_does_not() {
        let mut samples = samples(100, 150);
        if let Ok(table) = samples[1].table_mut(Family::ContextSwitches) {
            table.blank_row(1, Missing::denied("perf group"));
        }
        assert_eq!(offline(&samples), "");
    }

    #[test]
    fn a_hotplug_thread_that_ran_tells_where_time_is_lacking_or_began_again() {
        assert_eq!(offline(&samples(200, 90)), CPU_1);
        assert_eq!(offline(&samples(200, 10)), CPU_1);
    }

    #[test]
    fn neither_a_hotplug_thread_nor_lost_ticks_tell_alone() {
        assert_eq!(offline(&samples(200, 145)), "");
        assert_eq!(offline(&samples(100, 90)), "");
    }
}
