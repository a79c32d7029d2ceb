//! /proc/PID/task/TID/{stat,schedstat}: one task.
//!
//! Sources: proc_pid_stat(5), fs/proc/array.c, fs/proc/base.c; PF_KTHREAD of include/linux/sched.h. Both files
//! of a task that waits to be reaped still answer.

use super::Name;
use super::scan::Scan;
use crate::Expected;

const PF_KTHREAD: u64 = 0x0020_0000;

/// Who a task is, and where it ran last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskStat {
    /// Its number.
    pub tid: u32,
    /// Its name.
    pub name: Name,
    /// Whether it is a thread of the kernel.
    pub is_kernel_thread: bool,
    /// When it started, in ticks of USER_HZ since boot.
    pub started: u64,
    /// The CPU it last ran on.
    pub cpu: u32,
}

impl TaskStat {
    /// Parses `stat`. The name stands in parentheses and may hold spaces, parentheses and ends of lines.
    pub fn parse(text: &[u8]) -> Result<TaskStat, Expected> {
        const STAT: Expected = Expected("a line like `1 (init) S 0 ...` of 39 fields or more");
        let open = text.iter().position(|it| *it == b'(').ok_or(STAT)?;
        let close = text.iter().rposition(|it| *it == b')').filter(|it| *it > open).ok_or(STAT)?;
        let name = Name::new(text.get(open + 1..close).unwrap_or_default());
        let tid = text.get(..open).and_then(|it| Scan(it).number()).ok_or(STAT)?;
        // Behind the name come the state and, from field 4 on, numbers, some of them negative.
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

/// What the scheduler has counted of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scheduled {
    /// The time it has run, in nanoseconds.
    pub run_ns: u64,
    /// The time it was runnable and waited, in nanoseconds.
    pub wait_ns: u64,
    /// How often it was put on a CPU.
    pub slices: u64,
}

impl Scheduled {
    /// Parses `schedstat`. All three are 0 for a task that never ran, and for every task of a kernel without
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

    const LINE: &str = "7 (a) b\n) S 1 1 1 0 -1 2129984 0 0 0 0 0 12 0 0 20 0 1 0 250 0 0 18446744073709551615 0 0 0 \
        0 0 0 0 2147483647 0 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

    #[test]
    fn a_name_may_hold_anything_but_its_length() {
        let task = TaskStat::parse(LINE.as_bytes()).unwrap();
        assert_eq!((task.tid, task.name.as_str()), (7, "a) b\n"));
        assert_eq!((task.is_kernel_thread, task.started, task.cpu), (true, 250, 3));
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
