//! The processes that descend from one, and signals to them alone.
//!
//! Source: /proc/PID/task/TID/children (proc_pid_tid_children(5), CONFIG_PROC_CHILDREN) where the kernel has it, which costs what
//! the descendants cost; else the parents of all processes in /proc/PID/stat. A process whose parent has ended has another
//! parent: that of [`adopt`], else init.

use crate::Source;
use facts::counters::task_stat::ProcessTimes;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::{BTreeMap, BTreeSet};

/// Makes this process the parent of every descendant whose parent ends (PR_SET_CHILD_SUBREAPER of prctl(2)). It then has to wait
/// for them when they end.
pub fn adopt() {
    // The argument only says whether, and Linux before 3.4 has no such thing.
    let _unknown = rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_err();
}

/// Every descendant of a process, without itself, those included that have ended and nobody has waited for. What ends or is made
/// meanwhile may be missing.
pub fn descendants(source: &dyn Source, root: u32) -> Vec<ProcessTimes> {
    let mut found = BTreeMap::new();
    let mut open = vec![root];
    let listed = OnDemand::new(source, root);
    while let Some(parent) = open.pop() {
        for child in listed.children(parent) {
            if let Some(times) = times(source, child)
                && child != root
                && found.insert(child, times).is_none()
            {
                open.push(child);
            }
        }
    }
    found.into_values().collect()
}

/// The children of a process that have ended and nobody has waited for; none where the kernel has no files of children.
pub fn ended_children(source: &dyn Source, parent: u32) -> Vec<u32> {
    let listed = OnDemand { source, by_parent: None };
    let children = listed.children(parent).into_iter();
    children.filter(|it| times(source, *it).is_some_and(|it| it.is_zombie)).collect()
}

/// The children of processes, by the files of their threads or else by one look at all processes.
struct OnDemand<'a> {
    source: &'a dyn Source,
    by_parent: Option<BTreeMap<u32, Vec<u32>>>,
}

impl<'a> OnDemand<'a> {
    fn new(source: &'a dyn Source, root: u32) -> OnDemand<'a> {
        let has_files = source.text(&format!("/proc/{root}/task/{root}/children")).is_ok();
        let by_parent = (!has_files).then(|| {
            let mut by_parent: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for times in numbers(source, "/proc").into_iter().filter_map(|it| times(source, it)) {
                by_parent.entry(times.parent).or_default().push(times.pid);
            }
            by_parent
        });
        OnDemand { source, by_parent }
    }

    fn children(&self, parent: u32) -> Vec<u32> {
        if let Some(by_parent) = &self.by_parent {
            return by_parent.get(&parent).cloned().unwrap_or_default();
        }
        let of_thread = |tid: u32| {
            let text = self.source.text(&format!("/proc/{parent}/task/{tid}/children"));
            let words = text.unwrap_or_default();
            words.split_ascii_whitespace().filter_map(|it| it.parse().ok()).collect::<Vec<u32>>()
        };
        threads(self.source, parent).into_iter().flat_map(of_thread).collect()
    }
}

/// The threads that a process has.
pub fn threads(source: &dyn Source, pid: u32) -> Vec<u32> {
    numbers(source, &format!("/proc/{pid}/task"))
}

/// The times of a process; `None` where there is none of that number.
pub fn times(source: &dyn Source, pid: u32) -> Option<ProcessTimes> {
    let parse = |text: &str| ProcessTimes::parse(text.as_bytes());
    source.parsed(&format!("/proc/{pid}/stat"), parse).ok()
}

pub(crate) fn numbers(source: &dyn Source, folder: &str) -> Vec<u32> {
    let names = source.list(folder).unwrap_or_default();
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

/// Those that have been sent a signal, by number and start.
#[derive(Debug, Default)]
pub struct Signalled(BTreeSet<(u32, u64)>);

impl Signalled {
    /// Sends a signal to those of `processes` that still run and have not had one from this. No other process that has got the
    /// number of one can be hit: the kernel's handle of a process (pidfd_open(2), since Linux 5.3) is taken before it is looked
    /// whether it is the one that was meant. Without such handles nothing is sent.
    pub fn send(&mut self, source: &dyn Source, processes: &[ProcessTimes], signal: Signal) {
        for process in processes.iter().filter(|it| !it.is_zombie) {
            if self.0.insert((process.pid, process.started)) {
                // It may have ended, or be another user's.
                let _unsent = send(source, process, signal).is_err();
            }
        }
    }
}

fn send(source: &dyn Source, process: &ProcessTimes, signal: Signal) -> Result<(), Errno> {
    let number = i32::try_from(process.pid).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    let handle = pidfd_open(number, PidfdFlags::empty())?;
    match times(source, process.pid) {
        Some(now) if now.started == process.started => pidfd_send_signal(&handle, signal),
        _ => Err(Errno::SRCH),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Captured, Live};
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    fn stat(pid: u32, parent: u32) -> String {
        format!("{pid} (x) S {parent} 1 1 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 250 0 0")
    }

    fn found(excerpt: &str) -> Vec<u32> {
        let source = Captured::excerpt(excerpt).unwrap();
        descendants(&source, 10).iter().map(|it| it.pid).collect()
    }

    #[test]
    fn descendants_are_found_by_their_parents_threads_or_by_all_processes() {
        let processes = [(10, 1), (11, 10), (12, 11), (13, 1), (14, 10)];
        let file = |(pid, parent)| format!("//- /proc/{pid}/stat\n{}\n", stat(pid, parent));
        let all: String = processes.into_iter().map(file).collect();
        assert_eq!(found(&all), [11, 12, 14]);
        let lists = [(10, 10, "11"), (10, 20, "14"), (11, 11, "12"), (12, 12, ""), (14, 14, "")];
        let file = |(pid, tid, children): (u32, u32, &str)| {
            format!("//- /proc/{pid}/task/{tid}/children\n{children}\n")
        };
        let lists: String = lists.into_iter().map(file).collect();
        assert_eq!(found(&(all + &lists)), [11, 12, 14]);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "starts processes to end them")]
    fn a_signal_ends_a_descendant_and_no_process_of_another_start() {
        let script = "sleep 1000 & echo $!; wait $!; exit $(($? - 128))";
        let mut shell =
            Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let source = Live::this_machine();
        let below = descendants(&source, shell.id());
        assert_eq!(below.iter().map(|it| it.pid.to_string()).collect::<Vec<_>>(), [line.trim()]);
        let mut signalled = Signalled::default();
        let another: Vec<_> =
            below.iter().map(|it| ProcessTimes { started: it.started + 1, ..*it }).collect();
        signalled.send(&source, &another, Signal::KILL);
        assert!(shell.try_wait().unwrap().is_none());
        signalled.send(&source, &below, Signal::TERM);
        assert_eq!(shell.wait().unwrap().into_raw() >> 8, 15);
    }
}
