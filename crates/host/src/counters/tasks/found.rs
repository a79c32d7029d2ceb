//! Which tasks there are, and which of them are wanted.

use super::super::files::{File, Files};
use super::super::listing::{Listing, last_made};
use super::super::wanted::Processes;
use facts::Fact;
use facts::counters::task_stat::TaskStat;

/// The tasks that were there at the last search.
#[derive(Debug)]
pub(in super::super) struct Found {
    processes: Processes,
    loadavg: File,
    last_made: Option<u64>,
    proc: Listing,
    pids: Vec<u32>,
    tids: Vec<u32>,
    /// Processes that were looked at and are none of those that are wanted, ascending.
    passed: Vec<u32>,
    /// When the chosen processes started: a later one with the number of one was not chosen.
    started: Vec<(u32, u64)>,
}

impl Found {
    pub(super) fn new(processes: Processes) -> Found {
        Found {
            processes,
            loadavg: File::new("/proc/loadavg"),
            last_made: None,
            proc: Listing::of("/proc".to_owned()),
            pids: Vec::new(),
            tids: Vec::new(),
            passed: Vec::new(),
            started: Vec::new(),
        }
    }

    pub(super) fn processes(&self) -> &Processes {
        &self.processes
    }

    pub(super) fn is_everybody(&self) -> bool {
        self.processes == Processes::All
    }

    /// Searches /proc, unless no task was made since the last time and `again` is not set. Says whether it did; `seen` are then
    /// the processes and tasks that are wanted, as far as their numbers say.
    pub(super) fn search(
        &mut self,
        files: &mut Files,
        again: bool,
        seen: &mut Vec<(u32, u32)>,
    ) -> Fact<bool> {
        let last = files.read(&mut self.loadavg).and_then(last_made).ok();
        if !again && last.is_some() && last == self.last_made {
            return Ok(false);
        }
        self.proc.numbers(&files.live, &mut self.pids)?;
        self.passed.retain(|pid| self.pids.binary_search(pid).is_ok());
        seen.clear();
        for &pid in &self.pids {
            if self.passed.binary_search(&pid).is_ok() {
                continue;
            }
            if self.processes.may_have_threads(pid) {
                // A process that has ended has no folder.
                let path = format!("/proc/{pid}/task");
                if Listing::of(path).numbers(&files.live, &mut self.tids).is_ok() {
                    seen.extend(self.tids.iter().map(|&tid| (pid, tid)));
                }
            } else {
                seen.push((pid, pid));
            }
        }
        // Set last, so that a search that failed is made again.
        self.last_made = last;
        Ok(true)
    }

    /// Whether a task of process `pid` is wanted; remembers processes that are not.
    pub(super) fn wants(&mut self, pid: u32, stat: &TaskStat) -> bool {
        let is_wanted = match &self.processes {
            _ if stat.is_kernel_thread => true,
            Processes::All => true,
            Processes::KernelThreads => false,
            Processes::Chosen(chosen) => chosen.contains(&pid) && self.is_chosen(pid, stat),
        };
        if let Err(at) = self.passed.binary_search(&pid)
            && !is_wanted
        {
            self.passed.insert(at, pid);
        }
        is_wanted
    }

    /// Whether the process is the one that bore the number first. Its first task is found first.
    fn is_chosen(&mut self, pid: u32, stat: &TaskStat) -> bool {
        let known = self.started.iter().find(|(of, _)| *of == pid);
        match known {
            Some((_, started)) => stat.tid != pid || stat.started == *started,
            None => {
                self.started.push((pid, stat.started));
                true
            }
        }
    }
}

impl Processes {
    /// The kernel's threads are processes of one task each.
    fn may_have_threads(&self, pid: u32) -> bool {
        match self {
            Processes::KernelThreads => false,
            Processes::Chosen(chosen) => chosen.contains(&pid),
            Processes::All => true,
        }
    }
}
