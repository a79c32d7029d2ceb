//! Tasks of users, added up by who they are: the command that is recorded, databases by role, others by name.
//!
//! What a task ran after its last sample and before its end is in no count of its own. The kernel tells of it as it ends, where it
//! may be listened to ([`Users::tell`]), with how long it waited. Besides, it adds what it ran to the times of its process, and when
//! the process has ended and was waited for, to those of its parent: what was not told is found there, and is entered as time
//! of tasks that ended. In a database it is that of a role all the same.

mod launches;
mod process;
mod sums;

use super::super::files::Files;
use super::Kept;
use facts::counters::Task;
use facts::counters::exits::Exit;
use facts::counters::task_stat::{ProcessTimes, Scheduled, TaskStat};
use facts::counters::users::{Kind, Owner, UserTime, UserTimes, family};
use facts::system::roles::Launcher;
use launches::Launches;
use process::{Ended, Process, children_ns, own_ns, process_times, title};
use std::collections::{BTreeMap, BTreeSet};
use sums::Sums;

pub(super) use sums::Place;

/// How many samples a new process of a database is looked at again: its title is written after it was forked.
pub(super) const YOUNG: u32 = 3;

/// How many samples the time of a process that ended waits to be found in that of its parent. A parent that ignores SIGCHLD is
/// never given it.
const WAITS: u32 = 10;

/// Whose tasks ran for how long since the sample before.
#[derive(Debug, Default)]
pub(in super::super) struct Users {
    /// Processes by number.
    processes: BTreeMap<u32, Process>,
    /// The command that is recorded.
    command: Option<u32>,
    /// Processes that are listed, this program among them: it becomes the parent of descendants that lost theirs.
    listed: Vec<u32>,
    /// Processes of which a thread has ended.
    to_settle: BTreeSet<u32>,
    /// Processes that have waited for children since the sample before: the run time of all of these, in nanoseconds.
    waited_for: BTreeMap<u32, u64>,
    /// Tasks that ended, as the kernel told, and that are not entered yet.
    exits: BTreeMap<u32, Exit>,
    launches: Launches,
    sums: Sums,
    times: UserTimes,
    read_at: u64,
    turn: u32,
}

impl Users {
    /// Of all tasks of users but those of the processes `listed`.
    pub(super) fn new(listed: &[u32]) -> Users {
        Users { listed: listed.to_vec(), ..Users::default() }
    }

    /// Counts the descendants of this process as the command's, and it too, from the next search on.
    pub(in super::super) fn follow(&mut self, command: u32) {
        self.command = Some(command);
    }

    /// The times since the sample before, and whether there was one.
    pub(in super::super) fn times(&self) -> Option<&UserTimes> {
        (self.turn > 1).then_some(&self.times)
    }

    /// Begins a sample.
    pub(super) fn begin(&mut self, read_at: u64) {
        self.turn = self.turn.saturating_add(1);
        self.times.over_ns = read_at.saturating_sub(self.read_at);
        self.read_at = read_at;
        self.sums.begin();
        self.times.unread = 0;
        self.times.ended = 0;
        self.launches.begin();
    }

    /// A task that was found: its kind. What it ran is counted from its start, unless this is the first sample.
    pub(super) fn found(
        &mut self,
        files: &mut Files,
        pid: u32,
        stat: &TaskStat,
        all: Scheduled,
    ) -> Kind {
        let is_first = self.turn == 1;
        if !self.processes.contains_key(&pid) {
            self.look_at(files, pid, stat, all);
        }
        let kind = self.kind(pid, stat);
        if let Some(process) = self.processes.get_mut(&pid) {
            process.cpu = stat.cpu;
            kind.role.into_iter().for_each(|role| self.launches.see(process.parent, role));
        }
        if !is_first {
            self.add(kind, stat.cpu, all.run_ns, all.wait_ns);
        }
        kind
    }

    /// A task of which no count was made this time.
    pub(super) fn skip(&mut self) {
        self.times.unread = self.times.unread.saturating_add(1);
    }

    /// A task that ran.
    pub(super) fn ran(&mut self, task: &Task, kind: Kind, since: &Task, place: &mut Place) {
        let run_ns = task.run_ns.saturating_sub(since.run_ns);
        let wait_ns = task.wait_ns.saturating_sub(since.wait_ns);
        self.sums.add(UserTime { kind, cpu: task.cpu, run_ns, wait_ns }, place);
        let launcher = kind.role.and_then(|(product, role)| Launcher::of_role(product, role));
        if let Some(launcher) = launcher
            && let Some(process) = self.processes.get(&task.pid)
        {
            let n_runs = task.slices.saturating_sub(since.slices);
            self.launches.ran(process.parent, launcher, n_runs);
        }
    }

    /// A task whose stat was read again: its kind, which execve(2) and a database that writes its title change.
    pub(super) fn read_again(&mut self, files: &mut Files, pid: u32, stat: &TaskStat) -> Kind {
        if let Ok(times) = ProcessTimes::parse(files.last()) {
            self.note_children(pid, &times);
            self.adopt(pid, times.parent);
        }
        if let Some(process) = self.processes.get_mut(&pid) {
            process.cpu = stat.cpu;
            let is_leader = stat.tid == pid;
            let is_renamed = is_leader && process.name != stat.name;
            let is_young = self.turn.saturating_sub(process.first_turn) <= YOUNG;
            if is_renamed || (is_young && process.product.is_some()) {
                if is_leader {
                    process.name = stat.name;
                }
                process.set_title(title(files, pid));
            }
        }
        self.kind(pid, stat)
    }

    /// A task that ended, as the kernel told.
    pub(super) fn tell(&mut self, exit: Exit) {
        self.exits.insert(exit.tid, exit);
    }

    /// Whether the kernel told of the end of this task.
    pub(super) fn is_told(&self, tid: u32) -> bool {
        self.exits.contains_key(&tid)
    }

    /// A task that has ended and is not added up.
    pub(super) fn forget(&mut self, tid: u32) {
        self.exits.remove(&tid);
    }

    /// A task that has ended, as it was sampled last, and whether that was in the sample before.
    pub(super) fn ended(&mut self, last: &Task, kind: &Kind, was_read_before: bool) {
        let exit = self.exits.remove(&last.tid).filter(|it| it.run_ns >= last.run_ns);
        match exit {
            Some(exit) if was_read_before => {
                let wait_ns = exit.wait_ns.saturating_sub(last.wait_ns);
                self.add(*kind, last.cpu, exit.run_ns - last.run_ns, wait_ns);
            }
            Some(_) => {}
            None => self.times.ended = self.times.ended.saturating_add(1),
        }
        let Some(process) = self.processes.get_mut(&last.pid) else { return };
        kind.role.into_iter().for_each(|role| self.launches.see(process.parent, role));
        let run_ns = exit.map_or(last.run_ns, |it| it.run_ns);
        process.ended_ns = process.ended_ns.saturating_add(run_ns);
        if process.longest_ended.is_none_or(|(run_ns, _)| run_ns < last.run_ns) {
            process.longest_ended = Some((last.run_ns, kind.role));
        }
        self.to_settle.insert(last.pid);
    }

    /// Ends a sample: enters what tasks ran that have ended.
    pub(super) fn end(&mut self, files: &mut Files, tasks: &[Kept]) {
        if self.turn == 1 {
            self.begin_processes(tasks);
            self.exits.clear();
        } else {
            self.enter_passed(tasks);
            let to_settle = std::mem::take(&mut self.to_settle);
            // Most samples have none, and very many tasks.
            let tasks: &[Kept] = if to_settle.is_empty() { &[] } else { tasks };
            let alive = run_times(tasks, |pid| to_settle.contains(&pid));
            let (living, ended): (Vec<u32>, Vec<u32>) =
                to_settle.into_iter().partition(|pid| alive.contains_key(pid));
            self.bury(&ended);
            // A parent is read before its children are known to have ended.
            for (pid, children_ns) in std::mem::take(&mut self.waited_for) {
                self.claim(pid, children_ns);
            }
            for pid in living {
                self.settle_threads(files, pid, alive.get(&pid).copied().unwrap_or(0));
            }
        }
        let turn = self.turn;
        for process in self.processes.values_mut() {
            process.unclaimed.retain(|it| turn.saturating_sub(it.turn) <= WAITS);
        }
        self.sums.put(&mut self.times.list);
        self.times.add_up();
    }

    /// What ended before the first sample is nobody's time from here on.
    fn begin_processes(&mut self, tasks: &[Kept]) {
        self.to_settle.clear();
        let alive = run_times(tasks, |_| true);
        for (pid, process) in &mut self.processes {
            let alive_ns = alive.get(pid).copied().unwrap_or(0);
            process.ended_ns = process.found_ns.saturating_sub(alive_ns);
        }
    }

    /// Enters tasks that came and went between two samples, as the kernel told of them. A process that has ended and was not waited
    /// for is among `tasks` still.
    fn enter_passed(&mut self, tasks: &[Kept]) {
        let is_there = |tid: u32| tasks.binary_search_by_key(&tid, |it| it.task.tid).is_ok();
        let (there, passed): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut self.exits).into_iter().partition(|(tid, _)| is_there(*tid));
        self.exits = there;
        for exit in passed.values().filter(|it| it.process == Some(it.tid)) {
            self.launches.pass(exit.parent);
        }
        for exit in passed.values() {
            // Without its process it may be a thread of this program, whose parent is a shell.
            let Some(pid) = exit.process.filter(|it| !self.listed.contains(it)) else { continue };
            if let Some(process) = self.processes.get_mut(&pid) {
                process.ended_ns = process.ended_ns.saturating_add(exit.run_ns);
                let role = process.role_of(&exit.name);
                let name = if role.is_some() { process.name } else { family(&exit.name) };
                let kind = Kind { name, ..process.ended_kind(role) };
                let cpu = process.cpu;
                self.add(kind, cpu, exit.run_ns, exit.wait_ns);
            } else {
                self.enter_passed_child(exit, &passed);
            }
        }
    }

    /// Enters a task of a process that came and went between two samples: a child of one that is known, or of one that `passed` too.
    fn enter_passed_child(&mut self, exit: &Exit, passed: &BTreeMap<u32, Exit>) {
        let (mut parent, mut n_steps) = (exit.parent, 0);
        while let Some(between) = passed.get(&parent)
            && n_steps < passed.len()
        {
            (parent, n_steps) = (between.parent, n_steps + 1);
        }
        let is_orphan = self.listed.contains(&parent);
        let parent = if is_orphan { self.command } else { Some(parent) };
        let turn = self.turn;
        let Some(process) = parent.and_then(|it| self.processes.get_mut(&it)) else { return };
        let launched = self.launches.role_of_passed(exit.parent);
        let kind = process.ended_kind(launched.or_else(|| process.other_role()));
        let kind = if kind.role.is_some() { kind } else { Kind { name: exit.name, ..kind } };
        if !is_orphan {
            process.unclaimed.push(Ended { turn, entered_ns: exit.run_ns, kind });
        }
        let cpu = process.cpu;
        self.add(kind, cpu, exit.run_ns, exit.wait_ns);
    }

    /// Enters what threads ran after their last sample, of a process that goes on.
    fn settle_threads(&mut self, files: &mut Files, pid: u32, alive_ns: u64) {
        let Some(times) = process_times(files, pid) else { return };
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let longest = process.longest_ended.take();
        let unseen_ns = own_ns(&times).saturating_sub(alive_ns).saturating_sub(process.ended_ns);
        if unseen_ns > 0 {
            process.ended_ns = process.ended_ns.saturating_add(unseen_ns);
            let role = longest.map_or_else(|| process.other_role(), |it| it.1);
            let (kind, cpu) = (process.ended_kind(role), process.cpu);
            self.add(kind, cpu, unseen_ns, 0);
        }
    }

    /// Processes that have ended: what of them and of their children was entered is looked for among the children of the next
    /// ancestor that lives, which is given all of it.
    fn bury(&mut self, ended: &[u32]) {
        let dead: BTreeMap<u32, Process> =
            ended.iter().filter_map(|pid| Some((*pid, self.processes.remove(pid)?))).collect();
        for process in dead.values() {
            let unclaimed = process.unclaimed.iter().map(|it| it.entered_ns);
            let unclaimed = unclaimed.fold(0, u64::saturating_add);
            let entered_ns =
                process.ended_ns.saturating_add(process.children_ns).saturating_add(unclaimed);
            let (mut ancestor, mut n_steps) = (process.parent, 0);
            // A number that was given anew could lead in a circle.
            while let Some(between) = dead.get(&ancestor)
                && n_steps < dead.len()
            {
                (ancestor, n_steps) = (between.parent, n_steps + 1);
            }
            if let Some(living) = self.processes.get_mut(&ancestor) {
                let kind = process.ended_kind(process.role_of(&process.name));
                let turn = self.turn;
                living.unclaimed.push(Ended { turn, entered_ns, kind });
            }
        }
    }

    /// Notes that a process has waited for children. Few tasks that run have.
    fn note_children(&mut self, pid: u32, times: &ProcessTimes) {
        let children_ns = children_ns(times);
        if self.processes.get(&pid).is_some_and(|it| it.children_ns < children_ns) {
            self.waited_for.insert(pid, children_ns);
        }
    }

    /// Enters what children ran that `pid` has waited for and that no sample shows.
    fn claim(&mut self, pid: u32, children_ns: u64) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let waited_ns = children_ns.saturating_sub(process.children_ns);
        process.children_ns = children_ns;
        // Most of what is not entered is that of the descendant that had run longest.
        let largest = process.unclaimed.iter().max_by_key(|it| it.entered_ns);
        let kind = largest.map_or_else(|| process.ended_kind(process.other_role()), |it| it.kind);
        let mut unseen_ns = waited_ns;
        for ended in &mut process.unclaimed {
            let known_ns = unseen_ns.min(ended.entered_ns);
            unseen_ns -= known_ns;
            ended.entered_ns -= known_ns;
        }
        process.unclaimed.retain(|it| it.entered_ns > 0);
        let cpu = process.cpu;
        self.add(kind, cpu, unseen_ns, 0);
    }

    /// A process that was not there before.
    fn look_at(&mut self, files: &mut Files, pid: u32, stat: &TaskStat, all: Scheduled) {
        let Some(times) = process_times(files, pid) else { return };
        let is_first = self.turn == 1;
        let mut process = Process {
            parent: times.parent,
            owner: if self.command == Some(pid) { Owner::Command } else { Owner::Other },
            name: stat.name,
            product: None,
            title: Box::default(),
            first_turn: self.turn,
            cpu: stat.cpu,
            ended_ns: 0,
            longest_ended: None,
            found_ns: own_ns(&times),
            children_ns: if is_first { children_ns(&times) } else { 0 },
            unclaimed: Vec::new(),
        };
        process.set_title(title(files, pid));
        self.processes.insert(pid, process);
        self.adopt(pid, times.parent);
        self.note_children(pid, &times);
        if own_ns(&times) > all.run_ns {
            // Other threads of it have run, and some of them may have ended.
            self.to_settle.insert(pid);
        }
    }

    /// A process whose parent is known: a child of the command's is the command's. Numbers wrap, so that a parent may be found after
    /// its child.
    fn adopt(&mut self, pid: u32, parent: u32) {
        let is_orphan = self.command.is_some() && self.listed.contains(&parent);
        let is_commands =
            is_orphan || self.processes.get(&parent).is_some_and(|it| it.owner == Owner::Command);
        if let Some(process) = self.processes.get_mut(&pid) {
            process.parent = parent;
            if is_commands {
                process.owner = Owner::Command;
            }
        }
    }

    fn kind(&self, pid: u32, stat: &TaskStat) -> Kind {
        let is_leader = stat.tid == pid;
        let name = if is_leader { stat.name } else { family(&stat.name) };
        let Some(process) = self.processes.get(&pid) else {
            return Kind { name, ..Kind::unnamed(Owner::Other) };
        };
        let role = process.role_of(&stat.name);
        // Threads of a role have many names, and its process one.
        let name = if role.is_some() { process.name } else { name };
        Kind { owner: process.owner, role, name, is_ended: false }
    }

    fn add(&mut self, kind: Kind, cpu: u32, run_ns: u64, wait_ns: u64) {
        let mut nowhere = Place::MAX;
        self.sums.add(UserTime { kind, cpu, run_ns, wait_ns }, &mut nowhere);
    }
}

/// The run times of living tasks, added up by process.
fn run_times(tasks: &[Kept], is_wanted: impl Fn(u32) -> bool) -> BTreeMap<u32, u64> {
    let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
    for kept in tasks.iter().filter(|it| is_wanted(it.task.pid)) {
        let sum = sums.entry(kept.task.pid).or_default();
        *sum = sum.saturating_add(kept.task.run_ns);
    }
    sums
}
