//! What the kernel's tracepoints say about one CPU at a time: switches between tasks, interrupts, softirqs
//! and the tick.
//!
//! Sources: include/trace/events/{sched,irq,timer}.h and arch/x86/include/asm/trace/irq_vectors.h of the
//! kernel. A trace knows nothing of time that no event marks off: hypervisor, firmware and the entry code
//! around a tracepoint are inside whatever ran at the time. Task numbers are those of the first pid
//! namespace, whatever namespace the reader lives in.

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

/// One traced moment of one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, in ns of CLOCK_MONOTONIC_RAW.
    pub at_ns: u64,
    /// On which CPU.
    pub cpu: u32,
    /// The task the CPU was in, interrupted or not, where the record says so; 0 is the idle task.
    pub running: Option<i32>,
    /// What happened.
    pub what: What,
}

/// What a traced moment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The CPU went from one task to another (sched:sched_switch).
    Switch {
        /// The task that left the CPU.
        prev: Task,
        /// The state it was left in, as the tracepoint encodes it; [`waits::Left`] decodes it.
        prev_state: u64,
        /// The task that got the CPU.
        next: Task,
    },
    /// A task made another, by thread id: a thread of its own process, or the first of another
    /// (sched:sched_process_fork).
    Fork {
        /// The task that there was.
        parent: i32,
        /// The task that there is too.
        child: i32,
    },
    /// An interrupt or a softirq began.
    Enter(Cause),
    /// It ended.
    Exit(Cause),
    /// The kernel tried to stop the tick (timer:tick_stop).
    TickStop(TickStop),
    /// So many events before this one did not fit the buffer.
    Lost(u64),
}

/// A thread, by the kernel's number and name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// Its thread id; 0 is the idle task of whichever CPU.
    pub tid: i32,
    /// Its name at that moment.
    pub comm: Comm,
}

/// The name of a task: at most 15 bytes and a NUL (TASK_COMM_LEN, include/linux/sched.h).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Comm(pub [u8; 16]);

impl Comm {
    /// The name in `text`, cut to what the kernel keeps.
    pub fn new(text: &str) -> Comm {
        let mut name = [0; 16];
        name.iter_mut().take(15).zip(text.bytes()).for_each(|(to, from)| *to = from);
        Comm(name)
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    fn bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(self.0.len());
        self.0.get(..end).unwrap_or_default()
    }
}

/// As it may be shown on a terminal: a task names itself, with any byte it likes.
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
