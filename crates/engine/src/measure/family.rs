//! Who belongs to the processes that are measured, and how long those ran that have ended.
//!
//! The time of a task that has ended is in its process (utime and stime of /proc/PID/stat), and that of a process in the parent
//! that waited for it (cutime and cstime, or getrusage(2)). So all of a command's time is known at its end, whether or not any of it
//! was traced; not by name. Besides, the kernel reports of each task that ends what it ran and waited, and whose child it
//! was ([`Exits`]), where it allows that; this needs no trace either.

use crate::clock::now;
use crate::measure::command::Workload;
use crate::measure::server::ServerWatch;
use crate::measure::tracing::Fork;
use facts::counters::exits::Exit;
use facts::counters::task_stat::ProcessTimes;
use facts::{Fact, Missing, USER_TICK_NS, Why};
use host::Live;
use host::counters::Exits;
use host::descendants::{threads, times};
use host::probe::ended_child_cpu_ns;
use rules::interval::Interval;
use rules::ledger::EndedTasks;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How often it is looked who is there: a task that lives for less is seen by chance.
const PACE: Duration = Duration::from_millis(100);
/// A look at a large family takes no more than this part of the time.
const LEAST_PACES: u32 = 100;

/// More tasks than these end in no interval that is measured as a whole.
const MOST_EXITS: usize = 1 << 20;

/// The chosen processes, the command and its descendants.
pub(crate) struct Family {
    chosen: Vec<(u32, Option<ProcessTimes>)>,
    forks: BTreeSet<(u32, u32)>,
    threads: BTreeSet<u32>,
    /// The server that is measured too.
    pub(crate) server: Option<ServerWatch>,
    next: Instant,
    /// What tells of tasks that end, and what it has told since [`Family::begin`].
    listener: Fact<Exits>,
    exits: Vec<Exit>,
    /// The command that was run.
    command: Option<u32>,
}

impl Family {
    /// Of the processes chosen by number, and of a server.
    pub(crate) fn of(source: &Live, chosen: &[u32], server: Option<ServerWatch>) -> Family {
        let chosen = chosen.iter().map(|pid| (*pid, None)).collect();
        let (forks, threads) = (BTreeSet::new(), BTreeSet::new());
        let (listener, exits) = (Exits::listen(), Vec::new());
        let next = now();
        let mut family =
            Family { chosen, forks, threads, server, next, listener, exits, command: None };
        family.look(source, None);
        family
    }

    /// Notes what the processes have run until now. To be asked when the sample at the beginning has been taken.
    pub(crate) fn begin(&mut self, source: &Live) {
        for (pid, before) in &mut self.chosen {
            *before = times(source, *pid);
        }
        self.server.iter_mut().for_each(|it| it.begin(source));
        self.listen();
        self.exits.clear();
    }

    /// Takes what was told of tasks that ended.
    fn listen(&mut self) {
        let Ok(listener) = &mut self.listener else { return };
        let exits = &mut self.exits;
        let is_all = listener.take(|exit| exits.push(exit));
        let is_all = is_all.map(|it| it && self.exits.len() <= MOST_EXITS);
        if let Err(missing) = is_all.and_then(|it| it.then_some(()).ok_or_else(too_many)) {
            self.listener = Err(missing);
        }
    }

    /// The tasks of the machine that ended since [`Family::begin`], or why they are not known.
    pub(crate) fn exits(&self) -> Fact<Vec<Exit>> {
        self.listener.as_ref().map(|_| self.exits.clone()).map_err(Missing::clone)
    }

    /// Looks who is there, if it is time to.
    pub(crate) fn glance(&mut self, source: &Live, command: Option<&Workload>) {
        if now() >= self.next {
            self.look(source, command);
        }
    }

    /// Looks who is there.
    pub(crate) fn look(&mut self, source: &Live, command: Option<&Workload>) {
        let began = now();
        self.listen();
        self.server.iter_mut().for_each(|it| it.look(source));
        for (pid, _) in &self.chosen {
            self.threads.extend(threads(source, *pid));
        }
        if let Some(command) = command {
            self.command = Some(command.pid());
            let below = command.descendants();
            let own = std::process::id();
            for process in &below {
                // Who has lost its parent is a child of this program, and descends from the command all the same.
                let is_adopted = process.parent == own;
                let parent = if is_adopted { command.pid() } else { process.parent };
                self.forks.insert((parent, process.pid));
            }
            for pid in below.iter().map(|it| it.pid).chain([command.pid()]) {
                let there = threads(source, pid);
                self.forks.extend(there.iter().filter(|it| **it != pid).map(|it| (pid, *it)));
                self.threads.extend(there);
            }
        }
        self.next = now() + PACE.max(began.elapsed() * LEAST_PACES);
    }

    /// Who was seen to belong to whom, as if each had been seen to come; of those that ended, as the kernel told.
    pub(crate) fn forks(&self) -> Vec<Fork> {
        let seen = self.forks.iter().map(|&(parent, child)| Fork { parent, child });
        let own = std::process::id();
        let of_parent = self.exits.iter().filter_map(|it| {
            // As in a look: it is the command, a thread of it, or one that has lost its parent.
            let is_ours = it.parent == own;
            let parent = if is_ours { self.command? } else { it.parent };
            (parent != it.tid).then_some(Fork { parent, child: it.tid })
        });
        let of_process = self.exits.iter().filter_map(|it| {
            let parent = it.process.filter(|process| *process != it.tid)?;
            Some(Fork { parent, child: it.tid })
        });
        seen.chain(of_parent).chain(of_process).collect()
    }

    /// Every thread that was seen.
    pub(crate) fn threads(&self) -> BTreeSet<u32> {
        let of_server = self.server.iter().flat_map(ServerWatch::threads);
        self.threads.iter().copied().chain(of_server).collect()
    }

    /// How long tasks ran in the interval that have ended: what the processes ran less what the tasks did that the sample at the
    /// end shows. To be asked when that sample has been taken.
    ///
    /// Errors: a process that was chosen by number has ended, and took its times with it.
    pub(crate) fn ended(
        &mut self,
        source: &Live,
        command: Option<&Workload>,
        interval: &Interval<'_>,
    ) -> Fact<EndedTasks> {
        let (deltas, _) = interval.task_deltas()?;
        let shown_ns = |pids: &BTreeSet<u32>| {
            let theirs = deltas.iter().filter(|it| pids.contains(&it.task.pid));
            theirs.fold(0, |sum: u64, it| sum.saturating_add(it.run_ns))
        };
        let mut all = EndedTasks::default();
        if let Some(server) = &mut self.server {
            let spent = server.end(source);
            if spent.is_cut {
                let why = "a process of the server ended, and its times with it";
                return Err(Missing::not_here("run times of tasks that ended", why));
            }
            (all.ns, all.uncertainty_ns) = (spent.ended_ns, spent.uncertainty_ns);
        }
        for (pid, before) in &self.chosen {
            let ticks = ticks_between(*before, times(source, *pid)).ok_or_else(|| {
                Missing::not_here("run times of tasks that ended", format!("process {pid} ended"))
            })?;
            let ended_ns = ns_of(ticks).saturating_sub(shown_ns(&[*pid].into()));
            let uncertainty_ns = ns_of(ProcessTimes::ROUNDED);
            // Less than what is rounded off is nothing.
            let ended_ns = if ended_ns > uncertainty_ns { ended_ns } else { 0 };
            all.ns = all.ns.saturating_add(ended_ns);
            all.uncertainty_ns = all.uncertainty_ns.saturating_add(uncertainty_ns);
        }
        if let Some(command) = command {
            let (ran, pids) = ran(source, command);
            all.ns = all.ns.saturating_add(ran.ns.saturating_sub(shown_ns(&pids)));
            all.uncertainty_ns = all.uncertainty_ns.saturating_add(ran.uncertainty_ns);
        }
        Ok(all)
    }
}

fn too_many() -> Missing {
    let why = "more tasks ended at once than the kernel reports".to_owned();
    Missing { what: "times of tasks that ended".to_owned(), why: Why::Failed(why) }
}

fn ns_of(ticks: u64) -> u64 {
    ticks.saturating_mul(USER_TICK_NS)
}

/// What one process ran between two looks; `None` where it is not the same, or not there.
fn ticks_between(before: Option<ProcessTimes>, after: Option<ProcessTimes>) -> Option<u64> {
    let (before, after) = before.zip(after)?;
    (before.started == after.started).then(|| after.own_ticks.saturating_sub(before.own_ticks))
}

/// How long a command and all its descendants have run that are there or have been waited for, and which processes are there.
fn ran(source: &Live, command: &Workload) -> (EndedTasks, BTreeSet<u32>) {
    let mut all = EndedTasks { ns: command.adopted_ns(), uncertainty_ns: 0 };
    let below = command.descendants();
    let there = below.into_iter().chain(times(source, command.pid()));
    let mut pids = BTreeSet::new();
    for process in there {
        pids.insert(process.pid);
        // Of a child of this program that has ended the kernel reports microseconds.
        let precise = ended_child_cpu_ns(process.pid).ok().filter(|_| process.is_zombie);
        let ticks = process.own_ticks.saturating_add(process.reaped_ticks);
        all.ns = all.ns.saturating_add(precise.unwrap_or(ns_of(ticks)));
        if precise.is_none() {
            all.uncertainty_ns =
                all.uncertainty_ns.saturating_add(ns_of(2 * ProcessTimes::ROUNDED));
        }
    }
    (all, pids)
}
