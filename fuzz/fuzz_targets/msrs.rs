//! Decoding of registers: any 64 bits mean something or nothing, and never a number that cannot be.
#![no_main]

use facts::msr::clock_modulation::Duty;
use facts::msr::hwp::{Capabilities, Request};
use facts::msr::{limit_reasons, rapl, ratios, thermal_status};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u64, u64, u32)| {
    let (value, units, family) = input;
    for extended in [None, Some(false), Some(true)] {
        let share = Duty::of_register(value, extended).and_then(Duty::share);
        assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{value:#x}");
    }
    let (capabilities, request) = (Capabilities(value), Request(value));
    assert!(capabilities.highest().max(capabilities.lowest()).max(capabilities.guaranteed()) < 256);
    assert!(request.min().max(request.max()).max(request.preference()) < 256);
    let units = rapl::Units(units);
    for limit in units.limits(value) {
        assert!(limit.watts.is_finite() && limit.window.is_finite(), "{limit:?}");
    }
    assert!(units.design_power(value).is_none_or(f64::is_finite));
    let _ = (rapl::is_locked(value), thermal_status::degrees_below_limit(value));
    let _ = (ratios::base(value), ratios::lowest(value), ratios::uncore(value));
    let _ = (ratios::highest_pstate(value), ratios::pstate_clock(family, value));
    let info = facts::cpu::cpuinfo::CpuInfo { family, ..Default::default() };
    let _ = limit_reasons::Layout::of(&info).map(|layout| layout.active(value).count());
});
