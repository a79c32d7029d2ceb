//! Who ran on a CPU, and for how long.
//!
//! Traced switches give the time of every task, also of those that came and went. Else the run times of
//! /proc/PID/task/TID/schedstat are taken, each on the CPU that the task last ran on: right for tasks that stay, off
//! for those that moved, and blind to those that ended.

use super::amount::{Entry, Method, part, signed};
use super::evidence::Evidence;
use super::owner::Owner;
use super::users;
use crate::interval::TaskDelta;
use facts::counters::Task;
use facts::probe::EventCost;
use facts::system::kernel_config::KernelConfig;
use facts::trace::{Comm, CpuTotals};
use facts::{Fact, HostView, Missing};
use std::collections::BTreeMap;

/// What one owner's tasks of one name ran on one CPU.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Share {
    pub(crate) owner: Owner,
    /// The tasks' name.
    pub(crate) name: String,
    /// Nanoseconds.
    pub(crate) ns: u64,
    /// What came while they ran and is not in that; `None` where nobody has seen it.
    pub(crate) interrupted: Option<Interrupted>,
    /// What was taken from it for tasks that are known to have run and had no room, in nanoseconds.
    pub(crate) cut_ns: u64,
}

/// Interrupts that came while tasks ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interrupted {
    /// How many a trace has shown.
    pub(crate) count: u64,
    /// What they took, softirqs included, in nanoseconds.
    pub(crate) ns: u64,
}

impl Share {
    /// Notes that `ns` of interrupts are not in its time any more.
    fn take_note(&mut self, ns: u64) {
        if let Some(interrupted) = &mut self.interrupted {
            interrupted.ns = interrupted.ns.saturating_add(ns);
        }
    }
}

/// All tasks of one CPU.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TaskTimes {
    /// Each owner and name once.
    pub(crate) shares: Vec<Share>,
    /// How far off the sum may be.
    pub(crate) uncertainty_ns: u64,
    /// How much of it may have been spent on other CPUs: what tasks ran that have moved.
    pub(crate) misplaced_ns: u64,
    /// How it was obtained.
    pub(crate) method: Method,
    pub(crate) source: &'static str,
    /// Why tasks of users are not among them, where they are not.
    pub(crate) without_users: Option<Missing>,
    /// Why it is unknown which tasks of users ran, where only their sum is known.
    pub(crate) unnamed_users: Option<Missing>,
}

impl TaskTimes {
    /// The time of all tasks.
    pub(crate) fn ns(&self) -> u64 {
        self.shares.iter().fold(0, |sum, it| sum.saturating_add(it.ns))
    }

    /// The time of one owner's tasks.
    pub(crate) fn ns_of(&self, owner: Owner) -> u64 {
        self.of(owner).fold(0, |sum, it| sum.saturating_add(it.ns))
    }

    /// The shares of one owner.
    pub(crate) fn of(&self, owner: Owner) -> impl Iterator<Item = &Share> {
        self.shares.iter().filter(move |it| it.owner == owner)
    }

    /// One owner's tasks as entries, a part for each name; the uncertainty is shared by their size.
    pub(crate) fn entries(&self, owner: Owner) -> Vec<Entry> {
        let entry = |share: &Share| Entry {
            part: share.name.clone(),
            ns: signed(share.ns),
            method: self.method,
            source: self.source,
            uncertainty_ns: self.uncertainty_of(share.ns).saturating_add(share.cut_ns),
            interrupted_ns: share.interrupted.map(|it| it.ns),
            party: None,
        };
        self.of(owner).map(entry).collect()
    }

    /// What of the uncertainty belongs to `ns` of the time.
    pub(crate) fn uncertainty_of(&self, ns: u64) -> u64 {
        part(self.uncertainty_ns, ns, self.ns())
    }

    /// The same without `ns` that were something else's, taken from everybody alike.
    pub(crate) fn without(mut self, ns: u64) -> TaskTimes {
        let all = self.ns();
        let left = all.saturating_sub(ns);
        self.shares.iter_mut().for_each(|it| it.ns = part(it.ns, left, all));
        self
    }

    /// Takes `ns` of it out, of threads of the kernel last: most of those stay on their CPU.
    pub(crate) fn take(&mut self, ns: u64) -> Vec<Share> {
        let stays = |it: &Share| matches!(it.owner, Owner::Kernel | Owner::ForcedIdle);
        let staying_ns = self.shares.iter().filter(|it| stays(it)).map(|it| it.ns);
        let staying_ns = staying_ns.fold(0, u64::saturating_add);
        let moving_ns = self.ns().saturating_sub(staying_ns);
        let from_moving_ns = ns.min(moving_ns);
        let from_staying_ns = ns.saturating_sub(from_moving_ns);
        let taken = self.shares.iter_mut().map(|it| {
            let ns = match stays(it) {
                true => part(it.ns, from_staying_ns, staying_ns),
                false => part(it.ns, from_moving_ns, moving_ns),
            };
            let ns = ns.min(it.ns);
            it.ns -= ns;
            Share { ns, ..it.clone() }
        });
        taken.collect()
    }

    /// Adds the time of tasks that are there already, or are not.
    pub(crate) fn give(&mut self, share: Share) {
        let same = |it: &&mut Share| it.owner == share.owner && it.name == share.name;
        match self.shares.iter_mut().find(same) {
            Some(it) => it.ns = it.ns.saturating_add(share.ns),
            None => self.shares.extend((share.ns > 0).then_some(share)),
        }
    }

    /// The same without `ns` of interrupts, taken from everybody alike.
    pub(crate) fn without_interrupts(self, ns: u64) -> TaskTimes {
        let with: Vec<u64> = self.shares.iter().map(|it| it.ns).collect();
        let mut without = self.without(ns);
        for (share, with) in without.shares.iter_mut().zip(with) {
            share.take_note(with.saturating_sub(share.ns));
        }
        without
    }

    /// The same without what the kernel took on the way into each traced interrupt and out of it.
    pub(crate) fn without_edges(mut self, edge: EventCost) -> TaskTimes {
        let mut n_interrupts = 0u64;
        for share in &mut self.shares {
            let count = share.interrupted.map_or(0, |it| it.count);
            let ns = count.saturating_mul(edge.ns).min(share.ns);
            share.ns -= ns;
            share.take_note(ns);
            n_interrupts = n_interrupts.saturating_add(count);
        }
        let off = n_interrupts.saturating_mul(edge.uncertainty_ns);
        self.uncertainty_ns = self.uncertainty_ns.saturating_add(off);
        self
    }
}

/// The tasks of a host by their numbers and by CPU, made once for all CPUs.
pub(crate) struct TaskIndex {
    owners: BTreeMap<u32, (Owner, String)>,
    /// What threads of the server are called instead of by their name.
    server_names: BTreeMap<u32, String>,
    by_cpu: BTreeMap<u32, Vec<Run>>,
    over_ns: u64,
    tick_ns: u64,
    without_users: Option<Missing>,
    /// Whose a task of a user is that nobody has seen in /proc.
    pub(crate) stranger: Owner,
    /// The same of tasks whose ancestors are known.
    kin: BTreeMap<u32, Owner>,
}

/// What one task ran between the samples.
struct Run {
    owner: Owner,
    name: String,
    ns: u64,
    moved: bool,
}

impl TaskIndex {
    /// Of the tasks in both samples.
    pub(crate) fn new(evidence: &Evidence<'_>) -> Fact<TaskIndex> {
        let interval = &evidence.interval;
        let before = interval.before.tasks.as_ref()?;
        let after = interval.after.tasks.as_ref()?;
        let (deltas, over_ns) = interval.task_deltas()?;
        let mut index = TaskIndex {
            owners: BTreeMap::new(),
            server_names: server_names(evidence),
            by_cpu: BTreeMap::new(),
            over_ns,
            tick_ns: tick_ns(interval.host),
            kin: evidence
                .kin
                .iter()
                .map(|(&tid, &pid)| (tid, owner_of_process(evidence, pid)))
                .collect(),
            stranger: users::stranger(evidence),
            without_users: (!after.complete)
                .then(|| interval.users().err())
                .flatten()
                .map(|_| Missing::not_collected("run times of all tasks")),
        };
        for task in before.list.iter().chain(&after.list) {
            let owner = (owner_of(evidence, task), task.name.to_string());
            index.owners.insert(task.tid, owner);
        }
        // A thread cannot run longer than has passed: such a count is none.
        let longest = over_ns.saturating_add(index.tick_ns);
        for TaskDelta { task, run_ns, .. } in deltas.into_iter().filter(|it| it.run_ns <= longest) {
            let owner = owner_of(evidence, task);
            let name = index.server_names.get(&task.tid);
            let name = name.map_or_else(|| task.name.to_string(), String::clone);
            let moved =
                before.get(task.tid).is_some_and(|it| it.is_same(task) && it.cpu != task.cpu);
            index.by_cpu.entry(task.cpu).or_default().push(Run { owner, name, ns: run_ns, moved });
        }
        if !after.complete {
            for (cpu, owner, name, ns) in users::runs(evidence, over_ns) {
                let run = Run { owner, name, ns, moved: false };
                index.by_cpu.entry(cpu).or_default().push(run);
            }
        }
        Ok(index)
    }

    /// Whose a task is, and its name.
    pub(crate) fn owner(&self, tid: u32) -> Option<&(Owner, String)> {
        self.owners.get(&tid)
    }

    /// What ran on a CPU by the tasks' own counts.
    pub(crate) fn on(&self, cpu: u32, wall_ns: u64) -> TaskTimes {
        let runs = self.by_cpu.get(&cpu).map_or(&[][..], Vec::as_slice);
        let scaled = |run: &Run| part(run.ns, wall_ns, self.over_ns);
        let moved = runs.iter().filter(|it| it.moved).map(scaled);
        let skew = self.over_ns.abs_diff(wall_ns);
        TaskTimes {
            shares: shares(runs.iter().map(|it| Share {
                owner: it.owner,
                name: it.name.clone(),
                ns: scaled(it),
                interrupted: Some(Interrupted::default()),
                cut_ns: 0,
            })),
            uncertainty_ns: self.tick_ns.saturating_add(skew),
            misplaced_ns: moved.fold(0, u64::saturating_add),
            method: Method::Counter,
            source: "/proc/PID/task/TID/schedstat",
            without_users: self.without_users.clone(),
            unnamed_users: self.without_users.clone(),
        }
    }

    /// What ran on a CPU by its traced switches.
    pub(crate) fn traced(&self, totals: &CpuTotals, wall_ns: u64) -> Fact<TaskTimes> {
        if !totals.shows_switches() {
            return Err(Missing::not_collected("tracepoint sched:sched_switch"));
        }
        // A number may be known by chance in another namespace; its name is not.
        let known = |tid: i32| u32::try_from(tid).ok().and_then(|it| self.owners.get(&it));
        let found = totals.tasks.iter().filter_map(|(tid, it)| Some((known(*tid)?, it.comm)));
        let (same, other): (Vec<_>, Vec<_>) =
            found.partition(|((_, name), comm)| comm.is_empty() || *name == comm.to_string());
        // Descendants of the command may be all that ran there, and be in no sample.
        let is_kin = |tid: &&i32| u32::try_from(**tid).is_ok_and(|it| self.kin.contains_key(&it));
        let n_kin = totals.tasks.keys().filter(is_kin).count();
        if !totals.tasks.is_empty() && same.len().saturating_add(n_kin) <= other.len() {
            let found = "none of the traced tasks";
            return Err(Missing::malformed("/proc", found, "the tasks of the first pid namespace"));
        }
        let named = totals.tasks.iter().map(|(&tid, time)| {
            let found = u32::try_from(tid).ok().and_then(|it| self.owners.get(&it));
            let (owner, name) = found.cloned().unwrap_or_else(|| self.unknown(tid, &time.comm));
            let of_server = u32::try_from(tid).ok().and_then(|it| self.server_names.get(&it));
            let name = of_server.map_or(name, String::clone);
            let scaled = |ns| part(ns, wall_ns, totals.wall_ns);
            let interrupted =
                Interrupted { count: time.interrupts, ns: scaled(time.interrupted_ns) };
            Share {
                owner,
                name,
                ns: scaled(time.run_ns),
                interrupted: Some(interrupted),
                cut_ns: 0,
            }
        });
        Ok(TaskTimes {
            shares: shares(named),
            uncertainty_ns: totals.unknown_ns.saturating_add(totals.wall_ns.abs_diff(wall_ns)),
            misplaced_ns: 0,
            method: Method::Tracepoint,
            source: "tracepoint sched:sched_switch",
            without_users: None,
            unnamed_users: None,
        })
    }
}

impl TaskIndex {
    /// A task that neither sample shows: it came and went between them. Only workers of the kernel do so beside tasks
    /// of users.
    pub(super) fn unknown(&self, tid: i32, comm: &Comm) -> (Owner, String) {
        let name = if comm.is_empty() { format!("task {tid}") } else { comm.to_string() };
        let kin = u32::try_from(tid).ok().and_then(|it| self.kin.get(&it)).copied();
        let owner = match kin {
            None if name.starts_with("kworker/") => Owner::Kernel,
            None => self.stranger,
            Some(owner) => owner,
        };
        (owner, name)
    }
}

/// Adds up what has the same owner and name.
fn shares(runs: impl Iterator<Item = Share>) -> Vec<Share> {
    let mut sums: BTreeMap<(Owner, String), (u64, Interrupted)> = BTreeMap::new();
    for Share { owner, name, ns, interrupted, .. } in runs {
        let (sum, all) = sums.entry((owner, name)).or_default();
        let interrupted = interrupted.unwrap_or_default();
        *sum = sum.saturating_add(ns);
        all.count = all.count.saturating_add(interrupted.count);
        all.ns = all.ns.saturating_add(interrupted.ns);
    }
    let share = |((owner, name), (ns, interrupted))| Share {
        owner,
        name,
        ns,
        interrupted: Some(interrupted),
        cut_ns: 0,
    };
    sums.into_iter().map(share).filter(|it| it.ns > 0).collect()
}

fn owner_of(evidence: &Evidence<'_>, task: &Task) -> Owner {
    let name = task.name.as_str();
    // drivers/powercap/idle_inject.c; kidle_inj before Linux 4.19.
    if task.is_kernel_thread && (name.starts_with("idle_inject/") || name.starts_with("kidle_inj"))
    {
        Owner::ForcedIdle
    } else if task.is_kernel_thread {
        Owner::Kernel
    } else {
        owner_of_process(evidence, *evidence.kin.get(&task.tid).unwrap_or(&task.pid))
    }
}

/// What threads of the server are called: by what they do, and those of a known product that nobody has seen as one that ended.
fn server_names(evidence: &Evidence<'_>) -> BTreeMap<u32, String> {
    let Some(server) = &evidence.server else { return BTreeMap::new() };
    let mut names = server.names.clone();
    let ends = [&evidence.interval.before.tasks, &evidence.interval.after.tasks];
    let is_seen = |tid: u32| ends.into_iter().flatten().any(|it| it.get(tid).is_some());
    if !names.is_empty() {
        let kin = evidence.kin.iter().filter(|(_, pid)| server.processes.contains(pid));
        for tid in kin.map(|(tid, _)| *tid).filter(|it| !is_seen(*it)) {
            names.entry(tid).or_insert_with(|| server.ended_name.clone());
        }
    }
    names
}

pub(super) fn owner_of_process(evidence: &Evidence<'_>, pid: u32) -> Owner {
    if pid == evidence.observer {
        Owner::Observer
    } else if !evidence.has_chosen() || evidence.is_chosen(pid) {
        Owner::Asked
    } else {
        Owner::Other
    }
}

/// What a run time may lag behind: the scheduler counts at switches and ticks. HZ is at least 100.
fn tick_ns(host: &HostView) -> u64 {
    let hz =
        host.kernel.config.as_ref().ok().and_then(KernelConfig::ticks_per_second).unwrap_or(100);
    1_000_000_000 / hz.max(1)
}

/// Whether a task belongs to the processes that were asked for.
pub(crate) fn is_asked(evidence: &Evidence<'_>, task: &Task) -> bool {
    owner_of(evidence, task) == Owner::Asked
}
