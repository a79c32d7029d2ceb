//! The msr devices of CPUs whose registers are read again and again.

use crate::source::live::read_register;
use facts::Fact;
use rustix::fd::{AsFd, OwnedFd};
use std::collections::BTreeMap;

/// Devices that are kept open, by CPU.
#[derive(Debug, Default)]
pub(super) struct MsrDevices(BTreeMap<u32, OwnedFd>);

/// Reads a register of a CPU, both by number: the way to it is the caller's.
pub(super) type ReadRegister<'a> = dyn FnMut(u32, u32) -> Fact<u64> + 'a;

impl MsrDevices {
    /// Whether that of `cpu` is open.
    pub(super) fn has(&self, cpu: u32) -> bool {
        self.0.contains_key(&cpu)
    }

    /// Keeps that of `cpu` from here on.
    pub(super) fn keep(&mut self, cpu: u32, device: OwnedFd) {
        self.0.insert(cpu, device);
    }

    /// Closes that of `cpu`.
    pub(super) fn close(&mut self, cpu: u32) {
        self.0.remove(&cpu);
    }

    /// A register, where the device is open.
    pub(super) fn read(&self, cpu: u32, address: u32) -> Option<Fact<u64>> {
        self.0.get(&cpu).map(|device| read_register(device.as_fd(), cpu, address))
    }
}
