//! What an engine has counted up to one moment.

use super::latency::Latency;
use crate::known::Known;
use facts::counters::task_stat::Scheduled;
use serde::{Deserialize, Serialize};

/// One moment's counts, all from the same start: what happened between two moments is the difference of two of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// How long the engine had run, in nanoseconds.
    pub at_ns: u64,
    /// How many sessions commit.
    pub sessions: u32,
    /// How many commits were over.
    pub commits: u64,
    /// What was written to the log.
    pub log: LogCounts,
    /// What the scheduler says of the task that writes the log, where there is one.
    pub writer: Known<Ran>,
    /// What it says of the sessions' tasks together.
    pub crew: Known<Ran>,
    /// How long sessions waited from posting their redo until it was on disk, in nanoseconds.
    pub log_wait_ns: Known<u64>,
}

/// Log writes up to one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogCounts {
    /// How many there were: each made what it wrote durable.
    pub writes: Known<u64>,
    /// How many bytes of log.
    pub bytes: Known<u64>,
    /// How long they took from each call to its return, in nanoseconds.
    pub taken_ns: Known<u64>,
    /// For how long of that the writer could have run and had no CPU, in nanoseconds.
    pub waited_ns: Known<u64>,
    /// How often each took how long, where each was seen.
    pub latency: Known<Latency>,
}

/// What the scheduler has counted of one task, or of several (/proc/PID/task/TID/schedstat).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// On a CPU, in nanoseconds.
    pub run_ns: u64,
    /// Runnable and waiting for one, in nanoseconds.
    pub wait_ns: u64,
    /// How often a CPU was given.
    pub slices: u64,
}

impl From<Scheduled> for Ran {
    fn from(Scheduled { run_ns, wait_ns, slices }: Scheduled) -> Ran {
        Ran { run_ns, wait_ns, slices }
    }
}

impl Ran {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Ran) -> Ran {
        Ran {
            run_ns: self.run_ns.saturating_add(other.run_ns),
            wait_ns: self.wait_ns.saturating_add(other.wait_ns),
            slices: self.slices.saturating_add(other.slices),
        }
    }

    /// What was added since `earlier`; `None` where a count went backwards.
    pub fn since(self, earlier: Ran) -> Option<Ran> {
        Some(Ran {
            run_ns: self.run_ns.checked_sub(earlier.run_ns)?,
            wait_ns: self.wait_ns.checked_sub(earlier.wait_ns)?,
            slices: self.slices.checked_sub(earlier.slices)?,
        })
    }
}
