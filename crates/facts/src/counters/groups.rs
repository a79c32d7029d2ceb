//! What a CPU quota has taken from control groups: cpu.stat.
//!
//! Source: Documentation/admin-guide/cgroup-v2.rst; Documentation/scheduler/sched-bwc.rst for version 1, whose
//! `throttled_time` is in nanoseconds where version 2 has microseconds.

/// The control groups of one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// `CLOCK_MONOTONIC_RAW` in nanoseconds, when reading began.
    pub read_at: u64,
    /// Each group once, by path.
    pub list: Vec<Group>,
}

/// `cpu.stat` of one control group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Its path below the root of control groups: `/system.slice/postgresql.service`.
    pub path: String,
    /// Periods in which a quota was enforced.
    pub periods: u64,
    /// Those of them in which the group used its quota up.
    pub throttled_periods: u64,
    /// For how long its run queues were stopped, of all CPUs together, in nanoseconds.
    pub throttled_ns: u64,
}
