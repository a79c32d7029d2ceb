//! Tasks: the kernel's threads, and those of chosen or of all processes; or the time of those of users, added up.
//!
//! Each task's schedstat stays open, which also holds on to who it is. Its other words (name, CPU) are read again
//! only when it has run since. /proc is searched for more tasks only after one was made anywhere. What a task
//! ran between its last sample and its death is in no sample of it; where users' tasks are added up, the kernel may tell of it.

mod search;
mod users;

use super::Processes;
use super::exits::Exits;
use super::files::{File, Files, failed};
use crate::clock;
use facts::counters::task_stat::{Scheduled, TaskStat};
use facts::counters::users::{Kind, UserTimes};
use facts::counters::{Counters, Task};
use facts::system::process::kernel_threads;
use facts::{Fact, HostView, Missing};
use search::Search;
use std::fmt::Write as _;
use users::{Place, Users, YOUNG};

/// Each open file of /proc holds a page of the kernel's memory (fs/seq_file.c), so more tasks than these are
/// opened each time: 8,192 pages are 32 MiB.
const MOST_KEPT: usize = 8192;

/// How many tasks whose file is not kept open are read in a sample: reading one takes 10 us.
const MOST_OPENED: usize = 1024;

/// How many users' tasks that ran are asked again for their name and CPU in a sample: asking one takes 12 us, as reading six that
/// are kept open does.
const MOST_ASKED: usize = 32;

/// Of those that were found in the latest samples so many are asked besides: programs are started, and titles written, then.
const MOST_YOUNG: u32 = 256;

/// A task that slept for so many samples gives its open file to one that runs.
const LONG_ASLEEP: u32 = 10;

/// The tasks that are sampled.
#[derive(Debug)]
pub(super) struct Sampled {
    search: Search,
    /// Ascending by number.
    tasks: Vec<Kept>,
    kernel_threads: Fact<()>,
    path: String,
    /// What the last search search: process and task.
    seen: Vec<(u32, u32)>,
    /// Where tasks of users are added up.
    users: Option<Users>,
    /// What tells of tasks that end, where it may be had.
    exits: Option<Exits>,
    turn: u32,
    /// One of so many tasks without an open file is read in a sample, and of users' tasks that ran is asked again.
    opened_every: u32,
    asked_every: u32,
}

/// A task, as it was sampled last.
#[derive(Debug)]
struct Kept {
    task: Task,
    schedstat: File,
    /// Of a task that is added up.
    kind: Option<Kind>,
    place: Place,
    /// The samples in which it was found, read last, and last found to have run.
    found_in: u32,
    read_in: u32,
    ran_in: u32,
}

impl Sampled {
    pub(super) fn new(processes: Processes, host: &HostView) -> Sampled {
        let kernel_threads = kernel_threads(&host.processes).map(|_| ());
        let users = match &processes {
            Processes::AddedUp(listed) => Some(Users::new(listed)),
            _ => None,
        };
        Sampled {
            search: Search::new(processes),
            tasks: Vec::new(),
            kernel_threads,
            path: String::new(),
            seen: Vec::new(),
            users,
            exits: None,
            turn: 0,
            opened_every: 1,
            asked_every: 1,
        }
    }

    /// Counts a process and its descendants as the command's, where users' tasks are added up.
    pub(super) fn follow(&mut self, command: u32) {
        self.users.iter_mut().for_each(|it| it.follow(command));
    }

    /// Learns of tasks that end from `exits`, too, where users' tasks are added up.
    pub(super) fn listen_to(&mut self, exits: Exits) {
        self.exits = Some(exits);
    }

    pub(super) fn sample(&mut self, files: &mut Files, into: &mut Counters) {
        let read_at = clock::raw_ns();
        self.turn = self.turn.saturating_add(1);
        self.users.iter_mut().for_each(|it| it.begin(read_at));
        if let Some(users) = &mut self.users {
            listen(&mut self.exits, users);
        }
        let n_before = self.tasks.len();
        self.refresh(files);
        // The number of a task that died may be another's already.
        if let Err(missing) = self.search(files, self.tasks.len() < n_before) {
            into.tasks = Err(missing);
            return;
        }
        if let Some(users) = &mut self.users {
            users.end(files, &self.tasks);
            put(&mut into.users, users.times());
        }
        let mut tasks = std::mem::replace(&mut into.tasks, Err(Missing::not_collected("tasks")))
            .unwrap_or_default();
        tasks.read_at = read_at;
        tasks.complete = self.search.is_everybody() && self.kernel_threads.is_ok();
        tasks.list.clear();
        let listed = self.tasks.iter().filter(|kept| kept.kind.is_none());
        tasks.list.extend(listed.map(|kept| kept.task));
        into.tasks = match tasks.list.iter().any(|task| task.run_ns > 0) {
            true => Ok(tasks),
            false => Err(failed("/proc/PID/schedstat", "no task has ever run (CONFIG_SCHED_INFO)")),
        };
    }

    /// Reads the tasks that are known; those that ended are known no more.
    fn refresh(&mut self, files: &mut Files) {
        let Sampled { search, tasks, users, exits, path, turn, opened_every, asked_every, .. } =
            self;
        let (mut n_opened, mut n_asked) = (0u32, 0u32);
        let (turn, asked_every) = (*turn, *asked_every);
        let mut round = Round { files, users, path, turn, asked_every, n_young: 0 };
        tasks.retain_mut(|kept| {
            if kept.kind.is_some() && !kept.schedstat.is_kept() {
                n_opened = n_opened.saturating_add(1);
                if !is_due(kept.task.tid, turn, *opened_every) {
                    round.users.iter_mut().for_each(Users::skip);
                    return true;
                }
            }
            let is_alive = kept.refresh(&mut round);
            if is_alive {
                kept.read_in = turn;
            }
            if kept.ran_in == turn {
                n_asked = n_asked.saturating_add(1);
            }
            if !is_alive {
                round.files.forget(&mut kept.schedstat);
                search.look_again(kept.task.pid);
                if let Some(users) = round.users {
                    end(kept, users, exits, turn);
                }
            }
            is_alive
        });
        *opened_every = n_opened / MOST_OPENED as u32 + 1;
        self.asked_every = n_asked / MOST_ASKED as u32 + 1;
        if n_opened > 0 {
            self.exchange(files);
        }
    }

    /// Gives the open files of tasks that sleep to those that ran and have none.
    fn exchange(&mut self, files: &mut Files) {
        let turn = self.turn;
        let is_asleep = |it: &Kept| turn.saturating_sub(it.ran_in) >= LONG_ASLEEP;
        let is_to_keep =
            |it: &Kept| it.kind.is_some() && !it.schedstat.is_kept() && it.ran_in == turn;
        let mut n_wanted = self.tasks.iter().filter(|it| is_to_keep(it)).count();
        for kept in &mut self.tasks {
            if n_wanted > 0 && kept.kind.is_some() && kept.schedstat.is_kept() && is_asleep(kept) {
                files.forget(&mut kept.schedstat);
                kept.schedstat = File::unkept(&*kept.schedstat.path);
                n_wanted -= 1;
            }
        }
        let n_kept = self.tasks.iter().filter(|it| it.schedstat.is_kept()).count();
        let mut n_left = MOST_KEPT.saturating_sub(n_kept);
        for kept in &mut self.tasks {
            if n_left > 0 && is_to_keep(kept) {
                kept.schedstat = File::new(&*kept.schedstat.path);
                n_left -= 1;
            }
        }
    }

    /// Finds tasks that were made since the last sample.
    fn search(&mut self, files: &mut Files, again: bool) -> Fact<()> {
        if *self.search.processes() == Processes::KernelThreads {
            self.kernel_threads.clone()?;
        }
        if !self.search.search(files, again, &mut self.seen)? {
            return Ok(());
        }
        let n_before = self.tasks.len();
        let n_kept = self.tasks.iter().filter(|kept| kept.schedstat.is_kept()).count();
        let mut n_left = MOST_KEPT.saturating_sub(n_kept);
        for &(pid, tid) in &self.seen {
            let is_known = |it: &Kept| (it.task.tid, it.task.pid) == (tid, pid);
            let known = self.tasks.get(..n_before).unwrap_or_default();
            let at = known.binary_search_by_key(&tid, |kept| kept.task.tid);
            if at.is_ok_and(|at| known.get(at).is_some_and(is_known)) {
                continue;
            }
            let found = stat(files, &mut self.path, pid, tid);
            let found = found.filter(|it| self.search.wants(pid, it)).and_then(|stat| {
                Some((Kept::open(files, pid, &stat, n_left > 0, self.turn)?, stat))
            });
            let Some((mut kept, stat)) = found else {
                // It may have ended since it was listed.
                self.search.look_again(pid);
                continue;
            };
            n_left = n_left.saturating_sub(1);
            if let Some(users) = &mut self.users
                && self.search.is_added_up(&stat, pid)
            {
                kept.kind = Some(users.found(files, pid, &stat, kept.scheduled()));
            }
            self.tasks.push(kept);
        }
        self.tasks.sort_by_key(|kept| kept.task.tid);
        Ok(())
    }
}

/// Takes what the kernel told of tasks that ended. What it does not tell is found in other counts.
fn listen(exits: &mut Option<Exits>, users: &mut Users) {
    let taken = exits.as_mut().map(|it| it.take(|exit| users.tell(exit)));
    if taken.is_some_and(|it| it.is_err()) {
        *exits = None;
    }
}

/// Enters the end of a task that is no longer there. The kernel tells of it before it is gone.
fn end(kept: &Kept, users: &mut Users, exits: &mut Option<Exits>, turn: u32) {
    if !users.is_told(kept.task.tid) {
        listen(exits, users);
    }
    match &kept.kind {
        Some(kind) => users.ended(&kept.task, kind, kept.read_in.saturating_add(1) >= turn),
        None => users.forget(kept.task.tid),
    }
}

/// Whether a task is one of those that are read in this sample, where one of `every` is.
fn is_due(tid: u32, turn: u32, every: u32) -> bool {
    tid.wrapping_add(turn).is_multiple_of(every.max(1))
}

/// What reading the known tasks again takes.
struct Round<'a> {
    files: &'a mut Files,
    users: &'a mut Option<Users>,
    path: &'a mut String,
    turn: u32,
    asked_every: u32,
    /// How many young tasks were asked.
    n_young: u32,
}

impl Round<'_> {
    /// Whether a task that ran is asked for its name and CPU.
    fn asks(&mut self, kept: &Kept) -> bool {
        if is_due(kept.task.tid, self.turn, self.asked_every) {
            return true;
        }
        let is_young = kept.found_in > 1 && self.turn.saturating_sub(kept.found_in) <= YOUNG;
        if !is_young || self.n_young >= MOST_YOUNG {
            return false;
        }
        self.n_young = self.n_young.saturating_add(1);
        true
    }
}

impl Kept {
    /// `None` for a task that has ended meanwhile.
    fn open(files: &mut Files, pid: u32, stat: &TaskStat, keeps: bool, turn: u32) -> Option<Kept> {
        let path = format!("/proc/{pid}/task/{}/schedstat", stat.tid);
        let mut schedstat = if keeps { File::new(path) } else { File::unkept(path) };
        let Ok(scheduled) = Scheduled::parse(files.read(&mut schedstat).ok()?) else {
            files.forget(&mut schedstat);
            return None;
        };
        let task = task(pid, stat, scheduled);
        let (kind, place) = (None, Place::MAX);
        Some(Kept { task, schedstat, kind, place, found_in: turn, read_in: turn, ran_in: turn })
    }

    fn scheduled(&self) -> Scheduled {
        let Task { run_ns, wait_ns, slices, .. } = self.task;
        Scheduled { run_ns, wait_ns, slices }
    }

    /// Reads it again; false once it has ended.
    fn refresh(&mut self, round: &mut Round<'_>) -> bool {
        let Some(scheduled) = round.files.read_same(&mut self.schedstat) else { return false };
        let Ok(scheduled) = Scheduled::parse(scheduled) else { return false };
        let was_read_before = self.read_in.saturating_add(1) == round.turn;
        let is_kept = self.schedstat.is_kept();
        let has_run = scheduled != self.scheduled();
        if !has_run && (is_kept || self.kind.is_some()) {
            return true;
        }
        let last = self.task;
        self.ran_in = if has_run { round.turn } else { self.ran_in };
        // An open file is that of the same task for ever.
        if self.kind.is_some() && is_kept && !round.asks(self) {
            let Scheduled { run_ns, wait_ns, slices } = scheduled;
            self.task = Task { run_ns, wait_ns, slices, ..last };
        } else {
            let Some(stat) = stat(round.files, round.path, last.pid, last.tid) else {
                return false;
            };
            if stat.started != last.started {
                return false;
            }
            self.task = task(last.pid, &stat, scheduled);
            if let (Some(kind), Some(users)) = (&mut self.kind, round.users.as_mut()) {
                *kind = users.read_again(round.files, last.pid, &stat);
            }
        }
        // What it ran since an earlier sample is not known to be of this interval.
        if let (Some(kind), Some(users), true) = (self.kind, round.users.as_mut(), was_read_before)
        {
            users.ran(&self.task, kind, &last, &mut self.place);
        }
        true
    }
}

/// Puts the times into a sample, in the room that an earlier one left.
fn put(into: &mut Fact<UserTimes>, times: Option<&UserTimes>) {
    match (into, times) {
        (Ok(into), Some(times)) => into.clone_from(times),
        (into, times) => *into = times.cloned().ok_or_else(UserTimes::uncollected),
    }
}

fn task(pid: u32, stat: &TaskStat, scheduled: Scheduled) -> Task {
    Task {
        tid: stat.tid,
        pid,
        name: stat.name,
        is_kernel_thread: stat.is_kernel_thread,
        started: stat.started,
        cpu: stat.cpu,
        run_ns: scheduled.run_ns,
        wait_ns: scheduled.wait_ns,
        slices: scheduled.slices,
    }
}

fn stat(files: &mut Files, path: &mut String, pid: u32, tid: u32) -> Option<TaskStat> {
    path.clear();
    write!(path, "/proc/{pid}/task/{tid}/stat").ok()?;
    TaskStat::parse(files.read_once(path).ok()?).ok()
}
