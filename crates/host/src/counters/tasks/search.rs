//! Searches /proc for tasks, and selects those that are wanted.

use super::super::files::{File, Files};
use crate::Live;
use crate::counters::Processes;
use facts::counters::task_stat::TaskStat;
use facts::{Fact, Missing};
use rustix::fd::OwnedFd;
use rustix::fs::{RawDir, SeekFrom, seek};
use std::collections::BTreeMap;
use std::mem::MaybeUninit;

/// The links of a folder with one task. File systems that count none say 1.
const LEAST_LINKS: u32 = 3;

/// The tasks that were there at the last search.
#[derive(Debug)]
pub(in super::super) struct Search {
    processes: Processes,
    loadavg: File,
    last_made: Option<u64>,
    proc: Listing,
    pids: Vec<u32>,
    tids: Vec<u32>,
    /// How many links the folder of each process's tasks had when it was listed: the kernel counts tasks there
    /// (proc_task_getattr in fs/proc/base.c), which is asked in a tenth of the time of listing hundreds of them.
    links: BTreeMap<u32, u32>,
    /// Processes that were seen and are not wanted, ascending.
    passed: Vec<u32>,
    /// When the chosen processes started: a later one with the number of one was not chosen.
    started: Vec<(u32, u64)>,
}

impl Search {
    pub(super) fn new(processes: Processes) -> Search {
        Search {
            processes,
            loadavg: File::new("/proc/loadavg"),
            last_made: None,
            proc: Listing::of("/proc".to_owned()),
            pids: Vec::new(),
            tids: Vec::new(),
            links: BTreeMap::new(),
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
    /// the processes and tasks that are wanted, as far as their numbers say; without those of processes of which no task has come
    /// or gone.
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
        self.links.retain(|pid, _| self.pids.binary_search(pid).is_ok());
        seen.clear();
        for &pid in &self.pids {
            if self.passed.binary_search(&pid).is_ok() {
                continue;
            }
            if self.processes.may_have_threads(pid) {
                let folder = format!("/proc/{pid}/task");
                // A process that has ended has no folder.
                let links = files.live.links(&folder).unwrap_or(0);
                if links >= LEAST_LINKS && self.links.get(&pid) == Some(&links) {
                    continue;
                }
                let mut tasks = Listing::of(folder);
                if tasks.numbers(&files.live, &mut self.tids).is_ok() {
                    seen.extend(self.tids.iter().map(|&tid| (pid, tid)));
                    self.links.insert(pid, links);
                }
            } else {
                seen.push((pid, pid));
            }
        }
        // Set last, so that a search that failed is made again.
        self.last_made = last;
        Ok(true)
    }

    /// Lists the tasks of a process at the next search, however many there are: one of them has gone.
    pub(super) fn look_again(&mut self, pid: u32) {
        self.links.remove(&pid);
    }

    /// Whether a task of process `pid` is wanted; remembers processes that are not.
    pub(super) fn wants(&mut self, pid: u32, stat: &TaskStat) -> bool {
        let is_wanted = match &self.processes {
            _ if stat.is_kernel_thread => true,
            Processes::All | Processes::AddedUp(_) => true,
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

    /// Whether a task that is wanted is added up with others.
    pub(super) fn is_added_up(&self, stat: &TaskStat, pid: u32) -> bool {
        match &self.processes {
            Processes::AddedUp(listed) => !stat.is_kernel_thread && !listed.contains(&pid),
            _ => false,
        }
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
            Processes::All | Processes::AddedUp(_) => true,
        }
    }
}

/// Lists the numbers in a folder of /proc again and again: processes, or the tasks of one. The folder stays open.
#[derive(Debug)]
pub(super) struct Listing {
    path: String,
    folder: Option<OwnedFd>,
}

impl Listing {
    pub(super) fn of(path: String) -> Listing {
        Listing { path, folder: None }
    }

    /// The names in it that are numbers, ascending, into `numbers`.
    pub(super) fn numbers(&mut self, live: &Live, numbers: &mut Vec<u32>) -> Fact<()> {
        numbers.clear();
        let failed = |error| crate::source::missing(&self.path, error);
        let folder = match &self.folder {
            Some(folder) => {
                seek(folder, SeekFrom::Start(0)).map_err(failed)?;
                folder
            }
            None => self.folder.insert(live.folder(&self.path)?),
        };
        let failed = |error| crate::source::missing(&self.path, error);
        let mut buffer = [MaybeUninit::uninit(); 1 << 14];
        let mut entries = RawDir::new(folder, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry.map_err(failed)?;
            numbers.extend(number(entry.file_name().to_bytes()));
        }
        numbers.sort_unstable();
        Ok(())
    }
}

fn number(name: &[u8]) -> Option<u32> {
    let number = std::str::from_utf8(name).ok()?.parse().ok()?;
    name.first().is_some_and(u8::is_ascii_digit).then_some(number)
}

/// The number of the task that was made last, from /proc/loadavg: while it stays, there is no further task.
///
/// Source: proc_loadavg(5).
pub(super) fn last_made(loadavg: &[u8]) -> Fact<u64> {
    let word = loadavg.trim_ascii_end().rsplit(|it| *it == b' ').next().unwrap_or_default();
    facts::counters::number(word).map_err(|expected| {
        Missing::malformed("/proc/loadavg", &String::from_utf8_lossy(loadavg), expected.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_are_tasks() {
        let names: [&[u8]; 5] = [b"12", b"self", b"+12", b"", b"99999999999"];
        assert_eq!(names.map(number), [Some(12), None, None, None, None]);
    }

    #[test]
    fn the_last_word_of_loadavg_is_the_last_task() {
        assert_eq!(last_made(b"0.00 0.01 0.05 1/123 4567\n"), Ok(4567));
        assert!(last_made(b"").is_err());
    }
}
