//! Tasks, and how long they have run and waited: /proc/PID/task/TID/{stat,schedstat}.
//!
//! Sources: proc_pid_stat(5), Documentation/scheduler/sched-stats.rst, fs/proc/array.c, fs/proc/base.c; PF_KTHREAD
//! of include/linux/sched.h. Run time is on the *task* clock, which excludes time in interrupts on a kernel with
//! CONFIG_IRQ_TIME_ACCOUNTING and stolen time on one with CONFIG_PARAVIRT_TIME_ACCOUNTING. Waiting time is on the
//! clock of the run queue, which includes both (kernel/sched/core.c, update_rq_clock_task). Both files can still be
//! read of a zombie.

use super::scan::Scan;
use crate::Expected;
use std::fmt;

/// The tasks of one instant, by ascending number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tasks {
    /// Whether these are all tasks of the host, or only kernel threads and the requested processes.
    pub complete: bool,
    /// `CLOCK_MONOTONIC_RAW` in nanoseconds, when reading began.
    pub read_at: u64,
    /// The tasks, each once.
    pub list: Vec<Task>,
}

/// One task: a kernel thread, or a thread of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its thread ID.
    pub tid: u32,
    /// Its process ID.
    pub pid: u32,
    /// The name that the kernel shows (`comm`).
    pub name: Name,
    /// Whether it is a kernel thread.
    pub is_kernel_thread: bool,
    /// When it started, in ticks of USER_HZ since boot: distinguishes it from a later task with the same ID.
    pub started: u64,
    /// The CPU it last ran on.
    pub cpu: u32,
    /// Its run time in nanoseconds.
    pub run_ns: u64,
    /// How long it was runnable and waited for a CPU, in nanoseconds.
    pub wait_ns: u64,
    /// The number of times it was scheduled on a CPU.
    pub slices: u64,
}

/// A task's name as the kernel keeps it: at most 15 bytes (TASK_COMM_LEN of include/linux/sched.h). The longer names
/// that /proc shows for some kernel threads are cut.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    bytes: [u8; 15],
    length: u8,
}

impl Name {
    /// The name in `text`, cut between characters; invalid UTF-8 ends it.
    pub fn new(text: &[u8]) -> Name {
        let end = text.iter().take(15).position(|it| *it == 0).unwrap_or(text.len().min(15));
        let text = text.get(..end).unwrap_or_default();
        let valid = match std::str::from_utf8(text) {
            Ok(valid) => valid.as_bytes(),
            Err(error) => text.get(..error.valid_up_to()).unwrap_or_default(),
        };
        let mut bytes = [0; 15];
        for (to, from) in bytes.iter_mut().zip(valid) {
            *to = *from;
        }
        Name { bytes, length: valid.len() as u8 }
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Tasks {
    /// The task with this thread ID.
    pub fn get(&self, tid: u32) -> Option<&Task> {
        let found = self.list.binary_search_by_key(&tid, |task| task.tid);
        found.ok().and_then(|at| self.list.get(at))
    }
}

impl Task {
    /// Whether `other` is the same task at another instant, and not a later one with the same ID.
    pub fn is_same(&self, other: &Task) -> bool {
        (self.tid, self.started) == (other.tid, other.started)
    }
}

const PF_KTHREAD: u64 = 0x0020_0000;

/// The identity of a task, and the CPU it last ran on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskStat {
    /// Its thread ID.
    pub tid: u32,
    /// The name that the kernel shows (`comm`).
    pub name: Name,
    /// Whether it is a kernel thread.
    pub is_kernel_thread: bool,
    /// When it started, in ticks of USER_HZ since boot.
    pub started: u64,
    /// The CPU it last ran on.
    pub cpu: u32,
}

impl TaskStat {
    /// Parses `stat`. The name is in parentheses and may contain spaces, parentheses and newlines.
    pub fn parse(text: &[u8]) -> Result<TaskStat, Expected> {
        const STAT: Expected = Expected("a line like `1 (init) S 0 ...` of 39 fields or more");
        let open = text.iter().position(|it| *it == b'(').ok_or(STAT)?;
        let close = text.iter().rposition(|it| *it == b')').filter(|it| *it > open).ok_or(STAT)?;
        let name = Name::new(text.get(open + 1..close).unwrap_or_default());
        let tid = text.get(..open).and_then(|it| Scan(it).number()).ok_or(STAT)?;
        // After the name come the state and, from field 4 on, numbers, some of them negative.
        let rest = text.get(close + 1..).unwrap_or_default();
        let mut fields = rest.split(u8::is_ascii_whitespace).filter(|it| !it.is_empty());
        let mut skip = |n| fields.nth(n).and_then(|it| Scan(it).number()).ok_or(STAT);
        let (flags, started, cpu) = (skip(9 - 3)?, skip(22 - 10)?, skip(39 - 23)?);
        Ok(TaskStat {
            tid: tid.try_into().map_err(|_| STAT)?,
            name,
            is_kernel_thread: flags & PF_KTHREAD != 0,
            started,
            cpu: cpu.try_into().map_err(|_| STAT)?,
        })
    }
}

/// The time of a process on a CPU, as its own file `stat` has it (fs/proc/array.c, do_task_stat).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessTimes {
    /// Its process ID.
    pub pid: u32,
    /// Its parent's.
    pub parent: u32,
    /// Whether it has ended, and its parent has not waited for it.
    pub is_zombie: bool,
    /// When it started, in ticks of USER_HZ since boot.
    pub started: u64,
    /// All of its threads, those that have ended too, in ticks of USER_HZ.
    pub own_ticks: u64,
    /// Its children that have ended, and that it waited for, with theirs, in ticks of USER_HZ.
    pub reaped_ticks: u64,
}

impl ProcessTimes {
    /// Each tick count is the sum of two that the kernel rounds down.
    pub const ROUNDED: u64 = 2;

    /// Parses `stat` of a process: that of a thread has the thread's own times.
    pub fn parse(text: &[u8]) -> Result<ProcessTimes, Expected> {
        const STAT: Expected = Expected("a line like `1 (init) S 0 ...` of 22 fields or more");
        let close = text.iter().rposition(|it| *it == b')').ok_or(STAT)?;
        let pid = Scan(text).number().ok_or(STAT)?;
        let rest = text.get(close + 1..).unwrap_or_default();
        let mut fields = rest.split(u8::is_ascii_whitespace).filter(|it| !it.is_empty());
        let is_zombie = fields.next().ok_or(STAT)? == b"Z";
        let mut skip = |n| fields.nth(n).and_then(|it| Scan(it).number()).ok_or(STAT);
        let parent = skip(0)?;
        // utime, stime, cutime and cstime are fields 14 to 17; the last two are signed, and never negative.
        let [user, system, reaped_user, reaped_system] =
            [skip(14 - 5)?, skip(0)?, skip(0)?, skip(0)?];
        Ok(ProcessTimes {
            pid: pid.try_into().map_err(|_| STAT)?,
            parent: parent.try_into().map_err(|_| STAT)?,
            is_zombie,
            started: skip(22 - 18)?,
            own_ticks: user.saturating_add(system),
            reaped_ticks: reaped_user.saturating_add(reaped_system),
        })
    }
}

/// What the scheduler counts of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scheduled {
    /// Its run time in nanoseconds.
    pub run_ns: u64,
    /// How long it was runnable and waited for a CPU, in nanoseconds.
    pub wait_ns: u64,
    /// The number of times it was scheduled on a CPU.
    pub slices: u64,
}

impl Scheduled {
    /// Parses `schedstat`. All three are 0 for a task that never ran, and for every task on a kernel without
    /// CONFIG_SCHED_INFO.
    pub fn parse(text: &[u8]) -> Result<Scheduled, Expected> {
        const THREE: Expected = Expected("three whole numbers");
        let mut rest = Scan(text);
        let mut next = || rest.number().ok_or(THREE);
        let scheduled = Scheduled { run_ns: next()?, wait_ns: next()?, slices: next()? };
        if rest.0.trim_ascii().is_empty() { Ok(scheduled) } else { Err(THREE) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_between_characters() {
        assert_eq!(Name::new(b"kworker/0:1\0junk").as_str(), "kworker/0:1");
        assert_eq!(Name::new("fourteen-byteé".as_bytes()).as_str(), "fourteen-byteé");
        assert_eq!(Name::new("fifteen-bytes-é".as_bytes()).as_str(), "fifteen-bytes-");
        assert_eq!(Name::new(b"").as_str(), "");
    }

    const LINE: &str = "7 (a) b\n) S 1 1 1 0 -1 2129984 0 0 0 0 0 12 0 0 20 0 1 0 250 0 0 18446744073709551615 0 0 0 \
        0 0 0 0 2147483647 0 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

    #[test]
    fn a_name_may_hold_anything_but_its_length() {
        let task = TaskStat::parse(LINE.as_bytes()).unwrap();
        assert_eq!((task.tid, task.name.as_str()), (7, "a) b\n"));
        assert_eq!((task.is_kernel_thread, task.started, task.cpu), (true, 250, 3));
    }

    #[test]
    fn a_process_has_its_own_time_and_that_of_children_it_waited_for() {
        let line =
            LINE.replacen("0 12 0 0 20", "7 12 300 40 20", 1).replacen(" S 1 1", " Z 5 1", 1);
        let times = ProcessTimes {
            pid: 7,
            parent: 5,
            is_zombie: true,
            started: 250,
            own_ticks: 19,
            reaped_ticks: 340,
        };
        assert_eq!(ProcessTimes::parse(line.as_bytes()), Ok(times));
        assert!(ProcessTimes::parse(&line.as_bytes()[..line.find(" 250").unwrap()]).is_err());
    }

    #[test]
    fn a_cut_line_is_refused() {
        for end in 0..LINE.find(" 17 3").unwrap() {
            assert!(TaskStat::parse(&LINE.as_bytes()[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn three_numbers_are_the_schedulers_own() {
        let one = Scheduled { run_ns: 1, wait_ns: 2, slices: 3 };
        assert_eq!(Scheduled::parse(b"1 2 3\n"), Ok(one));
        assert!(Scheduled::parse(b"1 2\n").is_err() && Scheduled::parse(b"1 2 3 4\n").is_err());
    }
}
