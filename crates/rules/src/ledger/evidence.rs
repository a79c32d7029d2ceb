//! What a ledger is made from.

use crate::check::Check;
use crate::finding::Finding;
use crate::interval::Interval;
use crate::spin::GapBooks;
use facts::counters::exits::Exit;
use facts::probe::{ClockReading, EventCost, EventCosts, LoadReading};
use facts::trace::CpuTotals;
use facts::trace::waits::Wait;
use facts::{CpuSet, Fact, Hertz, HostView, Missing, PerCpu};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that a ledger is made from.
pub struct Evidence<'a> {
    /// The counts at both ends.
    pub interval: Interval<'a>,
    /// The CPUs that are to be accounted for; those that were not online at both ends are left out.
    pub cpus: CpuSet,
    /// What was traced on each CPU between the two samples; a CPU that is not here was not traced.
    pub traced: PerCpu<CpuTotals>,
    /// What the chain probe saw on each CPU between the two samples.
    pub clocks: PerCpu<Vec<ClockReading>>,
    /// The highest clock that the probe saw before them and that still counts.
    pub highest_before: Option<Hertz>,
    /// How long loads took between the two samples, on one CPU after the other.
    pub loads: Vec<LoadReading>,
    /// What a spinner saw on each CPU, instead of the tasks that otherwise run there; a CPU that is not here was not
    /// spun on.
    pub spun: PerCpu<Spun>,
    /// What an event costs on this machine, as the gap probe found.
    pub costs: Fact<EventCosts>,
    /// What the kernel takes on the way into a traced interrupt and out of it, which no tracepoint marks, as the gap
    /// probe found.
    pub edge: Fact<EventCost>,
    /// The processes whose cycles are asked for; without any, every task of a user is useful.
    pub chosen: Vec<u32>,
    /// The server whose time is asked for as well.
    pub server: Option<ServerTasks>,
    /// The process that measures.
    pub observer: u32,
    /// Tasks, by thread id, that belong to a process because they descend from it, as traced forks tell; each with the
    /// process. It decides for tasks that came and went, and for the children of a command.
    pub kin: BTreeMap<u32, u32>,
    /// How long tasks of the chosen processes, or of their descendants, ran that are in no sample at the end because they have
    /// ended, or why that is unknown: so much of the time that no sample shows is theirs.
    pub ended: Fact<EndedTasks>,
    /// Threads of the chosen processes that were seen between the samples, and may be in neither.
    pub passing: BTreeSet<u32>,
    /// How long tasks were kept from running, by thread id, where that was traced of them.
    pub kept_off: BTreeMap<u32, Wait>,
    /// The tasks of the machine that ended between the samples, as the kernel told of them, or why it is not known to be all.
    pub exits: Fact<Vec<Exit>>,
    /// The host at the end, where it was looked at again; the interval has that of the beginning.
    pub host_after: Option<&'a HostView>,
    /// What the audit of the host found.
    pub findings: &'a [(&'static Check, Finding)],
}

impl<'a> Evidence<'a> {
    /// Evidence of counters alone: nothing traced, probed, chosen or audited.
    pub fn of(interval: Interval<'a>) -> Evidence<'a> {
        Evidence {
            cpus: interval.cpus(),
            interval,
            traced: PerCpu::default(),
            clocks: PerCpu::default(),
            highest_before: None,
            loads: Vec::new(),
            spun: PerCpu::default(),
            costs: Err(Missing::not_here(
                "cost of an event",
                "nothing was traced, and no event was timed",
            )),
            edge: Err(Missing::not_here(
                "time of entry and exit of an interrupt",
                "no interrupt was timed as a whole",
            )),
            chosen: Vec::new(),
            server: None,
            observer: 0,
            kin: BTreeMap::new(),
            ended: Err(Missing::not_collected("run times of tasks that ended")),
            passing: BTreeSet::new(),
            kept_off: BTreeMap::new(),
            exits: Err(Missing::not_collected("times of tasks that ended")),
            host_after: None,
            findings: &[],
        }
    }

    /// Whether some processes were asked for: other users' tasks are then not useful.
    pub(crate) fn has_chosen(&self) -> bool {
        !self.chosen.is_empty() || self.server.is_some()
    }

    /// Whether a process was asked for by its number, or is one of the server's.
    pub(crate) fn is_chosen(&self, pid: u32) -> bool {
        self.chosen.contains(&pid) || self.is_servers(pid)
    }

    /// Whether a process is one of the server's.
    pub(crate) fn is_servers(&self, pid: u32) -> bool {
        self.server.as_ref().is_some_and(|it| it.processes.contains(&pid))
    }

    /// What was traced on a CPU, or why nothing was.
    pub(crate) fn traced_on(&self, cpu: u32) -> Fact<&CpuTotals> {
        let not_traced = || Missing::not_collected(format!("a trace of CPU {cpu}"));
        let totals = self.traced.get(cpu).ok_or_else(not_traced)?.as_ref()?;
        let parts = [totals.unknown_ns, totals.idle_ns, totals.task_ns(), totals.interrupted_ns()];
        let parts = parts.into_iter().fold(0, u64::saturating_add);
        if parts > totals.wall_ns {
            let found = format!("{parts} ns in {} ns", totals.wall_ns);
            let what = format!("a trace of CPU {cpu}");
            return Err(Missing::malformed(what, &found, "no more time than has passed"));
        }
        Ok(totals)
    }
}

/// The run time of tasks that have ended, as the kernel counts it in whoever waited for them (getrusage(2)), or in the rest of
/// their process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndedTasks {
    /// Nanoseconds.
    pub ns: u64,
    /// How far off that may be, in nanoseconds: /proc shows ticks of 10 ms.
    pub uncertainty_ns: u64,
}

/// The server under test: its processes count as the requested ones do, and are named by what they do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerTasks {
    /// Its processes, those that ended too.
    pub processes: BTreeSet<u32>,
    /// What its threads are called, by number: `PostgreSQL walwriter`. Others have their own name.
    pub names: BTreeMap<u32, String>,
    /// What those are called that ended before anybody saw what they did: `PostgreSQL backend (ended)`.
    pub ended_name: String,
    /// How much of [`Evidence::ended`] is that of its tasks, in nanoseconds.
    pub ended_ns: u64,
}

/// What a spinner saw on one CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spun {
    /// How long it watched, in nanoseconds.
    pub wall_ns: u64,
    /// Whose the gaps were.
    pub gaps: GapBooks,
}
