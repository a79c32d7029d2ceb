//! What the kernel's tracepoints report of one CPU at a time: context switches, interrupts, softirqs and the tick.
//!
//! Sources: include/trace/events/{sched,irq,timer}.h and arch/x86/include/asm/trace/irq_vectors.h of the kernel. Time
//! without events of its own belongs to whatever ran then: the hypervisor, the firmware and the entry code around a
//! tracepoint. Task numbers are those of the initial PID namespace, whatever namespace the reader is in.

pub mod calls;
pub mod format;
pub mod record;
pub mod timeline;
mod totals;
pub mod tracepoint;
pub mod waits;

// Former name of this module, which is still in use.
pub use record as returned;
pub use totals::{Cause, CauseTime, CpuTotals, TaskTime, TickStop};

use std::fmt;

/// One event on one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, in ns of CLOCK_MONOTONIC_RAW.
    pub at_ns: u64,
    /// On which CPU.
    pub cpu: u32,
    /// The running task, interrupted or not, where the record has it; 0 is the idle task.
    pub running: Option<i32>,
    /// The traced event and its arguments.
    pub what: What,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A context switch (sched:sched_switch).
    Switch {
        /// The task that left the CPU.
        prev: Task,
        /// Its state, as the tracepoint encodes it; [`waits::Left`] decodes it.
        prev_state: u64,
        /// The task that gets the CPU.
        next: Task,
    },
    /// A task created another, by thread ID: a thread of its own process, or the first one of a new process
    /// (sched:sched_process_fork).
    Fork {
        /// The parent.
        parent: i32,
        /// The child.
        child: i32,
    },
    /// A task that slept, or is new, can run from now on (sched:sched_wakeup, sched:sched_wakeup_new), by thread ID.
    Wake(i32),
    /// An interrupt or a softirq began.
    Enter(Cause),
    /// An interrupt or a softirq ended.
    Exit(Cause),
    /// The running task began a system call that writes a file or makes it durable (syscalls:sys_enter_pwrite64 and others).
    Called,
    /// Such a call of the running task ended (syscalls:sys_exit_pwrite64 and others).
    Returned {
        /// Whether it made the file durable.
        syncs: bool,
    },
    /// The kernel tried to stop the tick (timer:tick_stop).
    TickStop(TickStop),
    /// The number of events before this one that did not fit in the buffer.
    Lost(u64),
}

/// A thread, by its ID and name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// Its thread ID; 0 is the idle task of any CPU.
    pub tid: i32,
    /// Its name at that time.
    pub comm: Comm,
}

/// The name of a task: at most 15 bytes and a NUL (TASK_COMM_LEN, include/linux/sched.h).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Comm(pub [u8; 16]);

impl Comm {
    /// The name in `text`, cut to the kernel's length.
    pub fn new(text: &str) -> Comm {
        let mut name = [0; 16];
        name.iter_mut().take(15).zip(text.bytes()).for_each(|(to, from)| *to = from);
        Comm(name)
    }

    /// Whether the name is empty.
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    fn bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(self.0.len());
        self.0.get(..end).unwrap_or_default()
    }
}

/// Safe to print on a terminal: a task can set its name to any bytes.
impl fmt::Display for Comm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = String::from_utf8_lossy(self.bytes());
        let shown = name.replace(char::is_control, "\u{fffd}");
        f.pad(&shown)
    }
}

impl fmt::Debug for Comm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_at_the_first_nul_and_shows_no_control_characters() {
        assert_eq!(Comm(*b"postgres\0garbage").to_string(), "postgres");
        assert_eq!(Comm::new("a\u{1b}[2Jb").to_string(), "a\u{fffd}[2Jb");
        assert_eq!(Comm::new("longer than fifteen bytes").to_string(), "longer than fif");
    }
}
