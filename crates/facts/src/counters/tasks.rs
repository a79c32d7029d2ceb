//! What tasks have run and waited: /proc/PID/task/TID/{stat,schedstat}.
//!
//! Source: proc_pid_stat(5), Documentation/scheduler/sched-stats.rst. Run time is on the *task* clock, which
//! leaves out time in interrupts on a kernel with CONFIG_IRQ_TIME_ACCOUNTING and stolen time on one with
//! CONFIG_PARAVIRT_TIME_ACCOUNTING; waiting time is on the run queue's clock, which does not
//! (kernel/sched/core.c, update_rq_clock_task).

use std::fmt;

/// The tasks of one instant, ascending by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tasks {
    /// Whether every task of the host is here, or only kernel threads and those that were asked for.
    pub complete: bool,
    /// `CLOCK_MONOTONIC_RAW` in nanoseconds, when reading began.
    pub read_at: u64,
    /// Each task once.
    pub list: Vec<Task>,
}

/// One task: a kernel thread, or a thread of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its number.
    pub tid: u32,
    /// The number of its process.
    pub pid: u32,
    /// Its name.
    pub name: Name,
    /// Whether it is a thread of the kernel.
    pub is_kernel_thread: bool,
    /// When it started, in ticks of USER_HZ since boot: tells it from a later task with its number.
    pub started: u64,
    /// The CPU it last ran on.
    pub cpu: u32,
    /// The time it has run, in nanoseconds.
    pub run_ns: u64,
    /// The time it has been runnable and waited, in nanoseconds.
    pub wait_ns: u64,
    /// How often it was put on a CPU.
    pub slices: u64,
}

/// A task's name as the kernel keeps it: at most 15 bytes (TASK_COMM_LEN of include/linux/sched.h); a longer
/// one, which some kernel threads show in /proc, is cut.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    bytes: [u8; 15],
    length: u8,
}

impl Name {
    /// The name in `text`, cut at a character's end; bytes that are no UTF-8 end it.
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
    /// The task with this number.
    pub fn get(&self, tid: u32) -> Option<&Task> {
        let found = self.list.binary_search_by_key(&tid, |task| task.tid);
        found.ok().and_then(|at| self.list.get(at))
    }
}

impl Task {
    /// Whether `other` is the same task at another instant, and not a later one with its number.
    pub fn is_same(&self, other: &Task) -> bool {
        (self.tid, self.started) == (other.tid, other.started)
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
}
