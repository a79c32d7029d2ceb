//! One CPU's group of perf events, opened again when it has to be.

use super::epoch::Epoch;
use crate::perf::Group;
use facts::Fact;
use facts::pmu::Counter;

/// More than any group here has.
pub(super) const MOST_COUNTERS: usize = 16;

/// A group that may be gone: its CPU went offline, or others used its hardware.
#[derive(Debug)]
pub(super) struct Slot {
    cpu: u32,
    group: Fact<Group>,
    epoch: Epoch,
}

impl Slot {
    /// Opens `counters` on `cpu`; where that fails, reading says why.
    pub(super) fn open(cpu: u32, counters: &[Counter]) -> Slot {
        Slot { cpu, group: Group::open(cpu, counters), epoch: Epoch::first() }
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
