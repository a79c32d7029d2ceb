//! Tasks: the kernel's threads, and those of chosen or of all processes.
//!
//! Each task's schedstat stays open, which also holds on to who it is. Its other words (name, CPU) are read again
//! only when it has run since. /proc is searched for more tasks only after one was made anywhere. What a task
//! ran between its last sample and its death is in no sample.

mod search;

use super::Processes;
use super::files::{File, Files, failed};
use crate::clock;
use facts::counters::task_stat::{Scheduled, TaskStat};
use facts::counters::{Counters, Task};
use facts::{Fact, HostView, Missing};
use search::Search;
use std::fmt::Write as _;

/// Each open file of /proc holds a page of the kernel's memory (fs/seq_file.c), so more tasks than these are
/// opened each time: 8,192 pages are 32 MiB.
const MOST_KEPT: usize = 8192;

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
}

/// A task, as it was sampled last.
#[derive(Debug)]
struct Kept {
    task: Task,
    schedstat: File,
}

impl Sampled {
    pub(super) fn new(processes: Processes, host: &HostView) -> Sampled {
        let kernel_threads = crate::readers::kernel_threads(&host.processes).map(|_| ());
        let search = Search::new(processes);
        Sampled { search, tasks: Vec::new(), kernel_threads, path: String::new(), seen: Vec::new() }
    }

    pub(super) fn sample(&mut self, files: &mut Files, into: &mut Counters) {
        let read_at = clock::raw_ns();
        let n_before = self.tasks.len();
        self.tasks.retain_mut(|kept| {
            let is_alive = kept.refresh(files, &mut self.path);
            if !is_alive {
                files.forget(&mut kept.schedstat);
            }
            is_alive
        });
        // The number of a task that died may be another's already.
        if let Err(missing) = self.search(files, self.tasks.len() < n_before) {
            into.tasks = Err(missing);
            return;
        }
        let mut tasks = std::mem::replace(&mut into.tasks, Err(Missing::not_collected("tasks")))
            .unwrap_or_default();
        tasks.read_at = read_at;
        tasks.complete = self.search.is_everybody() && self.kernel_threads.is_ok();
        tasks.list.clear();
        tasks.list.extend(self.tasks.iter().map(|kept| kept.task));
        into.tasks = match tasks.list.iter().any(|task| task.run_ns > 0) {
            true => Ok(tasks),
            false => Err(failed("/proc/PID/schedstat", "no task has ever run (CONFIG_SCHED_INFO)")),
        };
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
            let Some(stat) = stat(files, &mut self.path, pid, tid) else { continue };
            if self.search.wants(pid, &stat) {
                self.tasks.extend(Kept::open(files, pid, &stat, n_left > 0));
                n_left = n_left.saturating_sub(1);
            }
        }
        self.tasks.sort_by_key(|kept| kept.task.tid);
        Ok(())
    }
}

impl Kept {
    /// `None` for a task that has ended meanwhile.
    fn open(files: &mut Files, pid: u32, stat: &TaskStat, keeps: bool) -> Option<Kept> {
        let path = format!("/proc/{pid}/task/{}/schedstat", stat.tid);
        let mut schedstat = if keeps { File::new(path) } else { File::unkept(path) };
        let Ok(scheduled) = Scheduled::parse(files.read(&mut schedstat).ok()?) else {
            files.forget(&mut schedstat);
            return None;
        };
        Some(Kept { task: task(pid, stat, scheduled), schedstat })
    }

    /// Reads it again; false once it has ended.
    fn refresh(&mut self, files: &mut Files, path: &mut String) -> bool {
        let Some(scheduled) = files.read_same(&mut self.schedstat) else { return false };
        let Ok(scheduled) = Scheduled::parse(scheduled) else { return false };
        let last = Scheduled {
            run_ns: self.task.run_ns,
            wait_ns: self.task.wait_ns,
            slices: self.task.slices,
        };
        if scheduled == last && self.schedstat.is_kept() {
            return true;
        }
        let Some(stat) = stat(files, path, self.task.pid, self.task.tid) else { return false };
        let is_same = stat.started == self.task.started;
        self.task = task(self.task.pid, &stat, scheduled);
        is_same
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
