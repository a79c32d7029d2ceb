//! What was truly taken.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::nanoseconds;

/// The truth about one theft, as far as the thief can know it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Taken {
    /// The subcommand.
    pub(crate) theft: String,
    /// The CPU that was stolen from.
    pub(crate) cpu: u32,
    /// Ahead of whom the thief ran.
    pub(crate) policy: Policy,
    /// How long the theft lasted, by CLOCK_MONOTONIC.
    pub(crate) wall_ns: u64,
    /// What the thief or its spinner ran in that time, by CLOCK_THREAD_CPUTIME_ID.
    pub(crate) cpu_ns: u64,
    /// `cpu_ns` in percent of `wall_ns`.
    pub(crate) cpu_percent: f64,
    /// Of a timer storm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) interrupts: Option<Interrupts>,
    /// Of a quota.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) throttled: Option<Throttled>,
    /// Of SIGSTOP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stopped: Option<Stopped>,
}

/// Ahead of whom a thief runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Policy {
    /// Ahead of every ordinary task (SCHED_FIFO).
    Fifo,
    /// Ahead of most ordinary tasks (nice -20).
    Nice,
    /// Ahead of nobody.
    Other,
}

/// A storm of timer interrupts.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Interrupts {
    /// Timers that expired one by one, each in an interrupt of its own unless another timer's came just then.
    pub(crate) raised: u64,
    /// What the CPU's LOC counter in /proc/interrupts moved by: the storm, the tick and everybody else's timers.
    pub(crate) local_timer: u64,
    /// What one raised interrupt took from the thief's own spinner; only where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost_ns: Option<f64>,
}

/// What cpu.stat says of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Throttled {
    /// Periods in which the quota ran out.
    pub(crate) periods: u64,
    /// How long the group was kept off its CPU.
    pub(crate) ns: u64,
}

/// How the spinner was stopped.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Stopped {
    /// How many times.
    pub(crate) times: u64,
    /// From SIGSTOP to SIGCONT, in all.
    pub(crate) ns: u64,
}

impl Taken {
    /// What every theft has to tell.
    pub(crate) fn new(
        theft: &str,
        cpu: u32,
        policy: Policy,
        wall: Duration,
        own: Duration,
    ) -> Taken {
        let percent =
            if wall.is_zero() { 0.0 } else { 100.0 * own.as_secs_f64() / wall.as_secs_f64() };
        Taken {
            theft: theft.to_owned(),
            cpu,
            policy,
            wall_ns: nanoseconds(wall),
            cpu_ns: nanoseconds(own),
            cpu_percent: percent,
            interrupts: None,
            throttled: None,
            stopped: None,
        }
    }
}
