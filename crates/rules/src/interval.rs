//! Two samples of one host, and the differences between them: of counters, and of the run and wait times of tasks.

mod offline;
mod rows;
mod steal;

pub use rows::{Column, Rows};

use facts::counters::users::UserTimes;
use facts::counters::{Counters, Family, Table, Task};
use facts::{CpuSet, Fact, HostView, Missing, PerCpu};

/// Two samples of the same host, the earlier first.
#[derive(Clone, Copy)]
pub struct Interval<'a> {
    /// What the host is.
    pub host: &'a HostView,
    /// Its counts at the beginning.
    pub before: &'a Counters,
    /// Its counts at the end.
    pub after: &'a Counters,
}

impl<'a> Interval<'a> {
    /// The time between the samples in nanoseconds, by CLOCK_MONOTONIC_RAW, which no process can set.
    pub fn elapsed_ns(&self) -> Fact<u64> {
        elapsed(self.before.at.raw_ns, self.after.at.raw_ns)
    }

    /// For how long the machine was suspended in between, in nanoseconds.
    pub fn suspended_ns(&self) -> u64 {
        let boot = self.after.at.boot_ns.saturating_sub(self.before.at.boot_ns);
        let raw = self.after.at.raw_ns.saturating_sub(self.before.at.raw_ns);
        // The raw clock is not slewed and the boot clock is, by at most 500 parts in a million
        // (adjtimex(2)); what that explains is no suspension.
        boot.saturating_sub(raw).saturating_sub(raw / 1000)
    }

    /// The CPUs that were online at both ends.
    pub fn cpus(&self) -> CpuSet {
        self.before.online.and(&self.after.online)
    }

    /// The difference of one counter of one row.
    ///
    /// A counter that is lower at the end (it wrapped, or its CPU was offline and restarted it) is missing.
    pub fn delta(&self, family: Family, row: u32, column: &str) -> Fact<Delta> {
        let (before, after) = self.tables(family)?;
        let (first, last) = (before.column(column)?, after.column(column)?);
        let (from, to) = (before.row(row)?, after.row(row)?);
        let over_ns = elapsed(before.read_at(from), after.read_at(to))?;
        let (was, is) = (before.cell(from, first), after.cell(to, last));
        let by = is.checked_sub(was).ok_or_else(|| backwards(family, column, was, is))?;
        Ok(Delta { by, over_ns })
    }

    /// The same for every row that was read at either end.
    pub fn deltas(&self, family: Family, column: &str) -> Fact<PerCpu<Delta>> {
        let rows = self.rows(family)?;
        Ok(rows.deltas(rows.column(column)?))
    }

    /// The table of a family at both ends, row by row.
    pub fn rows(&self, family: Family) -> Result<Rows<'a>, &'a Missing> {
        let (before, after) = self.tables(family)?;
        Ok(Rows::new(family, before, after))
    }

    /// The tables of a family at both ends.
    pub fn tables(&self, family: Family) -> Result<(&'a Table, &'a Table), &'a Missing> {
        Ok((self.before.table(family)?, self.after.table(family)?))
    }
}

/// The difference of a counter between two readings, and the time between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delta {
    /// In the counter's own unit.
    pub by: u64,
    /// Between the two readings of this very counter, in nanoseconds; never 0.
    pub over_ns: u64,
}

/// A counter of time and the clock are not read at the same instant: a difference that this explains is not a fault.
const APART: f64 = 0.01;

impl Delta {
    /// In the counter's unit each second.
    pub fn per_second(self) -> f64 {
        self.by as f64 * 1e9 / self.over_ns as f64
    }

    /// Of a counter of time in steps of `step_ns`: its share of the time that passed, in percent.
    ///
    /// More time than passed, beyond a hundredth and two steps, is missing; `what` says of what.
    pub fn percent(self, step_ns: u64, what: &str) -> Fact<f64> {
        let (counted, passed) = (self.by as f64 * step_ns as f64, self.over_ns as f64);
        if counted > passed * (1.0 + APART) + 2.0 * step_ns as f64 {
            let found = format!("{:.1} ms within {:.1} ms", counted / 1e6, passed / 1e6);
            return Err(Missing::malformed(what, &found, "no more time than passed"));
        }
        Ok((100.0 * counted / passed).min(100.0))
    }
}

/// The time between two readings of `CLOCK_MONOTONIC_RAW`, in nanoseconds; never 0.
pub(super) fn elapsed(from: u64, to: u64) -> Fact<u64> {
    let backwards = || {
        let found = format!("{to} after {from}");
        Missing::malformed("CLOCK_MONOTONIC_RAW", &found, "a later time at the second reading")
    };
    to.checked_sub(from).filter(|it| *it > 0).ok_or_else(backwards)
}

/// The reason for a missing difference of a counter that is lower at the end.
pub(super) fn backwards(family: Family, column: &str, was: u64, is: u64) -> Missing {
    let what = format!("{} ({column})", family.source());
    Missing::malformed(what, &format!("{is} after {was}"), "a counter that does not go backwards")
}

/// The run and wait time of a task between two samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskDelta<'a> {
    /// The task as it was at the end; its CPU is the one it last ran on.
    pub task: &'a Task,
    /// The time it ran, in nanoseconds.
    pub run_ns: u64,
    /// The time it was runnable and waited, in nanoseconds.
    pub wait_ns: u64,
}

impl<'a> Interval<'a> {
    /// What users' tasks ran, by who they are. Missing where that was added up over another time than this interval.
    pub fn users(&self) -> Fact<&'a UserTimes> {
        let users = self.after.users.as_ref()?;
        let elapsed_ns = self.elapsed_ns()?;
        // The two are read one after the other, so they are milliseconds apart.
        if users.over_ns.abs_diff(elapsed_ns) > elapsed_ns / 10 {
            let found = format!("{} ns in an interval of {elapsed_ns} ns", users.over_ns);
            let what = "the time over which users' tasks were added up";
            return Err(Missing::malformed(what, &found, "the time of the interval"));
        }
        Ok(users)
    }

    /// The tasks that are there at the end, with the time between the two readings of them in nanoseconds.
    ///
    /// One that is not there at the beginning was started since, where every task was looked at, and all it
    /// did was done since; elsewhere it is left out. One whose times go backwards is left out, too.
    pub fn task_deltas(&self) -> Fact<(Vec<TaskDelta<'a>>, u64)> {
        let (before, after) = (self.before.tasks.as_ref()?, self.after.tasks.as_ref()?);
        let over_ns = elapsed(before.read_at, after.read_at)?;
        let sees_all = before.complete && after.complete;
        let mut earlier = before.list.iter().peekable();
        let mut deltas = Vec::with_capacity(after.list.len());
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
                deltas.push(TaskDelta { task, run_ns, wait_ns });
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
        Ok((deltas, over_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{counters, host_of};
    use crate::interval::Interval;

    #[test]
    fn a_step_beyond_the_whole_is_the_whole_and_more_is_nonsense() {
        let percent = |by| Delta { by, over_ns: 1_000_000_000 }.percent(10_000_000, "idle");
        assert_eq!((percent(25), percent(102)), (Ok(25.0), Ok(100.0)));
        assert_eq!(
            percent(200).unwrap_err().to_string(),
            "idle: found \"2000.0 ms within 1000.0 ms\", expected no more time than passed"
        );
    }

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
        let (deltas, over_ns) = interval.task_deltas().unwrap();
        let shown: Vec<_> =
            deltas.iter().map(|it| (it.task.name.as_str(), it.run_ns, it.wait_ns)).collect();
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
            interval.task_deltas().unwrap_err().to_string(),
            "/proc/PID/schedstat: found \"0 0 0 for every task\", expected the time a task has run"
        );
    }
}
