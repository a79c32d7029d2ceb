//! /proc/cpuinfo of any architecture.
#![no_main]

use facts::cpu::cpuinfo::CpuInfo;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(info) = CpuInfo::parse(text) {
        assert!(info.clock_in_name().is_none_or(|clock| clock.mhz() < 10_000.0));
    }
});
