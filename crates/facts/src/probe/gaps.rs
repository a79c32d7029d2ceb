//! The gaps that a spinning thread saw in its own time line.
//!
//! A thread that does nothing but read the CPU's time counter sees it advance by a few nanoseconds a step. A larger
//! step is time in which something else had the CPU: an interrupt, another task, the firmware, the hypervisor. The
//! spinner does not know which.

/// One step above the floor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// When it began: the last reading before it, CLOCK_MONOTONIC_RAW in nanoseconds.
    pub at_ns: u64,
    /// How long it lasted, in nanoseconds. An ordinary step, tens of nanoseconds, is part of it.
    pub length_ns: u64,
}

impl Gap {
    /// When it was over, CLOCK_MONOTONIC_RAW in nanoseconds.
    pub fn end_ns(&self) -> u64 {
        self.at_ns.saturating_add(self.length_ns)
    }
}

/// Gaps for which there was no room: they are counted, and where they were is forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotKept {
    /// How many.
    pub count: u64,
    /// How long they lasted together, in nanoseconds.
    pub total_ns: u64,
}

/// What one spinner saw on one CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// The CPU it was pinned to.
    pub cpu: u32,
    /// The spinner's thread id.
    pub thread: u32,
    /// The first reading, CLOCK_MONOTONIC_RAW in nanoseconds.
    pub started_ns: u64,
    /// The last reading, on the same clock.
    pub ended_ns: u64,
    /// How often the counter was read.
    pub reads: u64,
    /// Steps up to this many nanoseconds are ordinary.
    pub floor_ns: u64,
    /// How far all times may be off against CLOCK_MONOTONIC_RAW, in nanoseconds.
    pub slack_ns: u64,
    /// How often the kernel took the CPU from the spinner and gave it to another task.
    pub switches: u64,
    /// The gaps in the order in which they were seen, as far as there was room.
    pub gaps: Vec<Gap>,
    /// The others: behind those, and short ones before that.
    pub not_kept: NotKept,
}

impl Gaps {
    /// How long the spinner watched, in nanoseconds.
    pub fn wall_ns(&self) -> u64 {
        self.ended_ns.saturating_sub(self.started_ns)
    }

    /// How long all gaps lasted, in nanoseconds, those not kept included.
    pub fn total_ns(&self) -> u64 {
        let kept = self.gaps.iter().fold(0u64, |sum, gap| sum.saturating_add(gap.length_ns));
        kept.saturating_add(self.not_kept.total_ns)
    }

    /// How many gaps there were, those not kept included.
    pub fn count(&self) -> u64 {
        (self.gaps.len() as u64).saturating_add(self.not_kept.count)
    }
}
