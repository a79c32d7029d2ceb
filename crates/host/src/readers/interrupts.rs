//! Reads what each CPU has been doing since boot: its interrupts, and where its time went.

use crate::Source;
use facts::Fact;
use facts::system::cpu_times::CpuTimes;
use facts::system::interrupts::Interrupts;

pub(super) fn read(source: &dyn Source) -> Fact<Interrupts> {
    source.of_every_kernel(source.parsed("/proc/interrupts", Interrupts::parse))
}

pub(super) fn cpu_times(source: &dyn Source) -> Fact<CpuTimes> {
    source.of_every_kernel(source.parsed("/proc/stat", CpuTimes::parse))
}
