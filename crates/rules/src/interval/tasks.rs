//! What each task ran and waited between two samples.
//!
//! A task that ended in between has taken its counts with it (/proc/PID is gone): what it ran since the first
//! sample is not in here.

use super::Interval;
use facts::counters::Task;
use facts::{Fact, Missing};

/// What one task did between two samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRise<'a> {
    /// The task as it was at the end; its CPU is the one it last ran on.
    pub task: &'a Task,
    /// The time it ran, in nanoseconds.
    pub run_ns: u64,
    /// The time it was runnable and waited, in nanoseconds.
    pub wait_ns: u64,
}

impl<'a> Interval<'a> {
    /// The tasks that are there at the end, with the time between the two readings of them in nanoseconds.
    ///
    /// One that is not there at the beginning was started since, where every task was looked at, and all it
    /// did was done since; elsewhere it is left out. One whose times go backwards is left out, too.
    pub fn task_rises(&self) -> Fact<(Vec<TaskRise<'a>>, u64)> {
        let (before, after) = (self.before.tasks.as_ref()?, self.after.tasks.as_ref()?);
        let over_ns = super::rise::elapsed(before.read_at, after.read_at)?;
        let sees_all = before.complete && after.complete;
        let mut earlier = before.list.iter().peekable();
        let mut rises = Vec::with_capacity(after.list.len());
        for task in &after.list {
            while earlier.next_if(|it| it.tid < task.tid).is_some() {}
            let (run_ns, wait_ns) = match earlier.peek() {
                Some(was) if was.is_same(task) => (was.run_ns, was.wait_ns),
                _ if sees_all => (0, 0),
                _ => continue,
            };
            let run_ns = task.run_ns.checked_sub(run_ns);
            let wait_ns = task.wait_ns.checked_sub(wait_ns);
            if let Some((run_ns, wait_ns)) = run_ns.zip(wait_ns) {
                rises.push(TaskRise { task, run_ns, wait_ns });
            }
        }
        // Without CONFIG_SCHED_INFO the kernel writes `0 0 0` for every task (fs/proc/base.c); whoever reads
        // this has run.
        if after.list.iter().all(|task| task.run_ns == 0) {
            let what = "/proc/PID/schedstat";
            return Err(Missing::malformed(
                what,
                "0 0 0 for every task",
                "the time a task has run",
            ));
        }
        Ok((rises, over_ns))
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{counters, host_of};
    use crate::interval::Interval;

    #[test]
    fn a_task_that_came_counts_from_nothing_and_one_that_went_is_gone() {
        let before = counters(
            "at 0\ntask 1 1 init user 0 10 1\ntask 7 7 ended user 0 5 5\ntask 9 9 back user 0 9 9\n",
        );
        let after = counters(
            "at 1000\ntask 1 1 init user 1 15 3\ntask 8 8 came user 0 4 2\ntask 9 9 back user 0 3 9\n",
        );
        let host = host_of("");
        let interval = Interval { host: &host, before: &before, after: &after };
        let (rises, over_ns) = interval.task_rises().unwrap();
        let shown: Vec<_> =
            rises.iter().map(|it| (it.task.name.as_str(), it.run_ns, it.wait_ns)).collect();
        assert_eq!(shown, [("init", 5, 2), ("came", 4, 2)]);
        assert_eq!(over_ns, 1_000_000_000);
    }

    #[test]
    fn a_kernel_that_counts_no_run_time_gives_a_reason() {
        let samples = ["at 0\ntask 1 1 init user 0 0 0\n", "at 1000\ntask 1 1 init user 0 0 0\n"];
        let [before, after] = samples.map(counters);
        let host = host_of("");
        let interval = Interval { host: &host, before: &before, after: &after };
        assert_eq!(
            interval.task_rises().unwrap_err().to_string(),
            "/proc/PID/schedstat holds \"0 0 0 for every task\", expected the time a task has run"
        );
    }
}
