//! What the kernel tells of a task when it ends: taskstats, over a generic netlink socket.
//!
//! It is the only place where the wait of a task that has ended can be had: its files in /proc are gone with it.
//!
//! Sources: Documentation/accounting/taskstats.rst, include/uapi/linux/taskstats.h; kernel/delayacct.c, delayacct_add_tsk, which
//! fills in the times of the scheduler whether or not delays are accounted for (since Linux 5.14; before only where they are),
//! and kernel/exit.c: a task is told of before it gives back its memory, so that the time this takes is not in it.

use super::Name;
use crate::Expected;
use crate::netlink::{attributes, u16_at, u32_at, u64_at};

/// TASKSTATS_CMD_NEW, TASKSTATS_TYPE_AGGR_PID and TASKSTATS_TYPE_STATS.
const NEW: u8 = 2;
const OF_TASK: u16 = 4;
const STATS: u16 = 3;

/// `struct genlmsghdr`: command, version, two bytes of nothing.
const GENERIC_HEADER: usize = 4;

/// Fields of `struct taskstats`, in bytes.
const VERSION: usize = 0;
const CPU_COUNT: usize = 16;
const CPU_DELAY: usize = 24;
const CPU_RUN: usize = 72;
const COMM: std::ops::Range<usize> = 80..112;
const PID: usize = 128;
const PARENT: usize = 132;
const PROCESS: usize = 368;

/// The version since which the process is told (Linux 6.0).
const WITH_PROCESS: u16 = 12;

/// The version that has fields in between, of Linux 6.14 and 6.15: all behind CPU_DELAY are elsewhere ("taskstats: fix struct
/// taskstats breaks backward compatibility since version 15").
const SHIFTED: u16 = 15;

/// A task that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Its thread ID.
    pub tid: u32,
    /// Its process ID, where the kernel tells it.
    pub process: Option<u32>,
    /// The process ID of its process's parent; 0 for none.
    pub parent: u32,
    /// Its name.
    pub name: Name,
    /// How long it has run since its start, in nanoseconds, on the task clock.
    pub run_ns: u64,
    /// How long it was runnable and waited for a CPU since its start, in nanoseconds.
    pub wait_ns: u64,
}

/// The task that a generic netlink message tells of; `None` for a message about something else.
///
/// Errors: the kernel counts no times of tasks, or lays them out in another way.
pub fn parse(body: &[u8]) -> Result<Option<Exit>, Expected> {
    if body.first() != Some(&NEW) {
        return Ok(None);
    }
    let parts = attributes(body.get(GENERIC_HEADER..).unwrap_or_default());
    let mut of_task = parts.filter(|(kind, _)| *kind == OF_TASK).flat_map(|it| attributes(it.1));
    let Some((_, stats)) = of_task.find(|(kind, _)| *kind == STATS) else { return Ok(None) };
    exit(stats).map(Some)
}

fn exit(stats: &[u8]) -> Result<Exit, Expected> {
    let cut = || Expected("a whole struct taskstats");
    let version = u16_at(stats, VERSION).ok_or_else(cut)?;
    if version == SHIFTED {
        return Err(Expected("a struct taskstats of another version than 15, whose fields moved"));
    }
    let n_runs = u64_at(stats, CPU_COUNT).ok_or_else(cut)?;
    let run_ns = u64_at(stats, CPU_RUN).ok_or_else(cut)?;
    if n_runs == 0 {
        return Err(Expected("run times in taskstats (before Linux 5.14: boot with delayacct)"));
    }
    let process = u32_at(stats, PROCESS).filter(|_| version >= WITH_PROCESS);
    Ok(Exit {
        tid: u32_at(stats, PID).ok_or_else(cut)?,
        process,
        parent: u32_at(stats, PARENT).ok_or_else(cut)?,
        name: Name::new(stats.get(COMM).ok_or_else(cut)?),
        run_ns,
        wait_ns: u64_at(stats, CPU_DELAY).ok_or_else(cut)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::attribute;

    /// `struct taskstats` of the task 30 of the process 20, which 10 has made.
    fn stats(version: u16) -> Vec<u8> {
        let mut stats = vec![0; 376];
        let mut put = |at: usize, bytes: &[u8]| stats[at..][..bytes.len()].copy_from_slice(bytes);
        put(VERSION, &version.to_ne_bytes());
        put(CPU_COUNT, &7u64.to_ne_bytes());
        put(CPU_DELAY, &2_000_000u64.to_ne_bytes());
        put(CPU_RUN, &5_000_000u64.to_ne_bytes());
        put(COMM.start, b"postgres\0");
        put(PID, &30u32.to_ne_bytes());
        put(PARENT, &10u32.to_ne_bytes());
        put(PROCESS, &20u32.to_ne_bytes());
        stats
    }

    /// A message of what the kernel sends where the last thread of a process ends: of the task, then of the process.
    fn message(stats: &[u8]) -> Vec<u8> {
        let told = |kind, number: u32| {
            let parts = [attribute(kind, &number.to_ne_bytes()), attribute(STATS, stats)].concat();
            attribute(kind + 3, &parts)
        };
        [vec![NEW, 1, 0, 0], attribute(6, b""), told(1, 30), told(2, 20)].concat()
    }

    #[test]
    fn a_task_is_told_with_its_process_and_its_parent() {
        let exit = Exit {
            tid: 30,
            process: Some(20),
            parent: 10,
            name: Name::new(b"postgres"),
            run_ns: 5_000_000,
            wait_ns: 2_000_000,
        };
        assert_eq!(parse(&message(&stats(14))), Ok(Some(exit)));
        assert_eq!(parse(&message(&stats(16))), Ok(Some(exit)));
        let without = Some(Exit { process: None, ..exit });
        assert_eq!(parse(&message(&stats(8)[..344])), Ok(without));
    }

    #[test]
    fn another_message_tells_of_none() {
        assert_eq!(parse(&[1, 1, 0, 0]), Ok(None));
        assert_eq!(parse(&[]), Ok(None));
        assert_eq!(parse(&[NEW, 1, 0, 0]), Ok(None));
    }

    #[test]
    fn times_that_are_not_counted_or_lie_elsewhere_are_an_error_and_no_zero() {
        assert!(parse(&message(&stats(15))).is_err());
        assert!(parse(&message(&stats(14)[..100])).is_err());
        let mut uncounted = stats(8);
        uncounted[CPU_COUNT..][..8].fill(0);
        assert!(parse(&message(&uncounted)).is_err());
    }
}
