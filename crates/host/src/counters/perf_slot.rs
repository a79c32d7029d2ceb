//! One CPU's group of perf events, reopened after a failure, which restarts its counts at 0.
//!
//! An interval across a restart has no difference. So that none can be computed, each restart lowers the counts
//! below all earlier ones.

use crate::perf::Group;
use facts::Fact;
use facts::pmu::Counter;

/// More than any group here has.
pub(super) const MOST_COUNTERS: usize = 16;

/// A group that can fail: its CPU goes offline, or other users take its hardware.
#[derive(Debug)]
pub(super) struct PerfSlot {
    cpu: u32,
    group: Fact<Group>,
    epoch: Epoch,
}

impl PerfSlot {
    /// Opens `counters` on `cpu`; where that fails, reading says why.
    pub(super) fn open(cpu: u32, counters: &[Counter]) -> PerfSlot {
        PerfSlot { cpu, group: Group::open(cpu, counters), epoch: Epoch::first() }
    }

    /// The CPU.
    pub(super) fn cpu(&self) -> u32 {
        self.cpu
    }

    /// The counts, in the order of `counters`. A group that fails is opened again, so that the next reading may
    /// have counts.
    pub(super) fn read(&mut self, counters: &[Counter]) -> Fact<[u64; MOST_COUNTERS]> {
        let mut counts = [0; MOST_COUNTERS];
        let read = match &mut self.group {
            Ok(group) => group.read(&mut counts),
            Err(missing) => Err(missing.clone()),
        };
        if let Err(missing) = read {
            self.group = Group::open(self.cpu, counters);
            self.epoch = self.epoch.next();
            return Err(missing);
        }
        Ok(counts.map(|count| self.epoch.count(count)))
    }
}

/// More than any counter reaches in a year (2^57 cycles at 4 GHz are 417 days); room for 64 restarts.
const STEP: u64 = 1 << 57;

/// The offset of the counts since a restart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch(u64);

impl Epoch {
    /// The offset before any restart.
    pub(super) fn first() -> Epoch {
        Epoch(63 * STEP)
    }

    /// The offset after one more restart. After the 63rd it stays the same, and a difference may be wrong.
    pub(super) fn next(self) -> Epoch {
        Epoch(self.0.saturating_sub(STEP))
    }

    /// A count since the restart, with the offset.
    pub(super) fn count(self, count: u64) -> u64 {
        self.0.saturating_add(count.min(STEP - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_began_again_is_below_what_it_was() {
        let (first, later) = (Epoch::first(), Epoch::first().next());
        assert!(later.count(u64::MAX) < first.count(0));
        assert_eq!(first.count(12) - first.count(5), 7);
    }
}
