//! /proc/cpuinfo of any architecture.

use facts::cpu::cpuinfo::CpuInfo;

pub(crate) fn run(input: &[u8]) {
    let text = crate::text(input);
    if let Ok(info) = CpuInfo::parse(text) {
        assert!(info.clock_in_name().is_none_or(|clock| clock.mhz() < 10_000.0));
    }
}
