//! How long the processes of a server ran and waited, those that ended included.
//!
//! The kernel adds the time of a process that has ended and was waited for to that of its parent's children (cutime and cstime of
//! /proc/PID/stat, in ticks of 10 ms), so that a connection that came and went between two readings is in the postmaster's. How
//! long it waited for a CPU is forgotten when it ends: that is known up to the last reading that it is in.

use super::Members;
use crate::Source;
use crate::descendants::{threads, times};
use facts::USER_TICK_NS;
use facts::counters::task_stat::{ProcessTimes, Scheduled};
use std::collections::BTreeMap;

/// What the processes of a server have run and waited until a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    processes: BTreeMap<u32, Ran>,
    /// Threads, with the start of their process.
    threads: BTreeMap<(u32, u64), Scheduled>,
}

/// One process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ran {
    started: u64,
    parent: u32,
    /// Its threads that are there, in nanoseconds.
    threads_ns: u64,
    /// All its threads, in ticks.
    own_ticks: u64,
    reaped_ticks: u64,
}

/// What a server ran and waited between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// CPU time, that of processes and threads that ended included, in nanoseconds.
    pub cpu_ns: u64,
    /// What of it was that of processes and threads that have ended, and is in no count of those that are there.
    pub ended_ns: u64,
    /// How far off both may be: times of ended processes are in ticks of 10 ms.
    pub uncertainty_ns: u64,
    /// How long threads were runnable and waited for a CPU, as far as readings show it, in nanoseconds.
    pub wait_ns: u64,
    /// The CPU time of the threads of which `wait_ns` is the wait: less than `cpu_ns` where others came and went unseen.
    pub seen_ns: u64,
    /// Whether the process at the root, or one whose time nobody was given, has ended: the times are then lower limits.
    pub is_cut: bool,
}

impl Reading {
    /// Reads the processes of the last look.
    pub fn of(source: &dyn Source, members: &Members) -> Reading {
        let mut reading = Reading::default();
        for pid in members.living() {
            let Some(times) = times(source, pid) else { continue };
            let mut threads_ns = 0u64;
            for tid in threads(source, pid) {
                let path = format!("/proc/{pid}/task/{tid}/schedstat");
                let Ok(ran) = source.read(&path).and_then(|it| scheduled(&path, &it)) else {
                    continue;
                };
                threads_ns = threads_ns.saturating_add(ran.run_ns);
                reading.threads.insert((tid, times.started), ran);
            }
            let ProcessTimes { started, parent, own_ticks, reaped_ticks, .. } = times;
            let ran = Ran { started, parent, threads_ns, own_ticks, reaped_ticks };
            reading.processes.insert(pid, ran);
        }
        reading
    }

    /// Whether no process was there.
    pub fn is_empty(&self) -> bool {
        self.processes.is_empty()
    }

    /// Adds the threads of an earlier reading that are not in this one any more: what they ran and waited up to then.
    pub fn remember(&mut self, earlier: Reading) {
        for (thread, ran) in earlier.threads {
            self.threads.entry(thread).or_insert(ran);
        }
    }

    /// What was run and waited from `before` to this one.
    pub fn since(&self, before: &Reading) -> Spent {
        let mut spent = Spent::default();
        let mut add_reaped = |ticks: u64| {
            if ticks > 0 {
                spent.ended_ns = spent.ended_ns.saturating_add(ns_of(ticks));
                let off = ns_of(ProcessTimes::ROUNDED);
                spent.uncertainty_ns = spent.uncertainty_ns.saturating_add(off);
            }
        };
        let mut gone_ns = 0u64;
        for (pid, it) in &self.processes {
            let was = before.processes.get(pid).filter(|was| was.started == it.started);
            add_reaped(it.reaped_ticks.saturating_sub(was.map_or(0, |was| was.reaped_ticks)));
            let hidden_ns = it.hidden_ns().saturating_sub(was.map_or(0, Ran::hidden_ns));
            gone_ns = gone_ns.saturating_add(hidden_ns);
        }
        spent.ended_ns = spent.ended_ns.saturating_add(gone_ns);
        for (pid, was) in &before.processes {
            if self.processes.get(pid).is_some_and(|it| it.started == was.started) {
                continue;
            }
            // It was given to a parent with all that it ran before.
            let is_given = self.processes.contains_key(&was.parent);
            let known_ns = was.own_ns().saturating_add(ns_of(was.reaped_ticks));
            if is_given {
                spent.ended_ns = spent.ended_ns.saturating_sub(known_ns);
            } else {
                spent.is_cut = true;
            }
        }
        for (thread, it) in &self.threads {
            let was = before.threads.get(thread).copied().unwrap_or_default();
            let run_ns = it.run_ns.saturating_sub(was.run_ns);
            spent.seen_ns = spent.seen_ns.saturating_add(run_ns);
            spent.wait_ns = spent.wait_ns.saturating_add(it.wait_ns.saturating_sub(was.wait_ns));
        }
        let living = self.processes.iter().map(|(pid, it)| {
            let was = before.processes.get(pid).filter(|was| was.started == it.started);
            it.threads_ns.saturating_sub(was.map_or(0, |was| was.threads_ns))
        });
        spent.cpu_ns = living.fold(spent.ended_ns, u64::saturating_add);
        spent
    }
}

impl Ran {
    /// What of its time threads ran that have ended, in nanoseconds: what is more than is rounded off.
    fn hidden_ns(&self) -> u64 {
        let hidden_ns = ns_of(self.own_ticks).saturating_sub(self.threads_ns);
        if hidden_ns > ns_of(ProcessTimes::ROUNDED) { hidden_ns } else { 0 }
    }

    fn own_ns(&self) -> u64 {
        self.threads_ns.saturating_add(self.hidden_ns())
    }
}

fn ns_of(ticks: u64) -> u64 {
    ticks.saturating_mul(USER_TICK_NS)
}

fn scheduled(path: &str, text: &[u8]) -> facts::Fact<Scheduled> {
    Scheduled::parse(text).map_err(|expected| {
        facts::Missing::malformed(path, &String::from_utf8_lossy(text), expected.0)
    })
}
