//! Registers: whatever 64 bits they hold, decoding and judging them ends with numbers that can be.

use std::fmt::Write as _;

use arbitrary::{Arbitrary as _, Unstructured};
use facts::msr::clock_modulation::Duty;
use facts::msr::hwp::{Capabilities, Request};
use facts::msr::path;
use host::Captured;

/// A sick server with two CPUs, whose registers are replaced.
const SERVER: &str = include_str!("../../seeds/capture/server");

/// What an audit reads on Intel's processors and on AMD's.
const REGISTERS: [u32; 31] = [
    0x34,
    0xce,
    0xe2,
    0x198,
    0x199,
    0x19a,
    0x19c,
    0x1a0,
    0x1a2,
    0x1aa,
    0x1ad,
    0x1ae,
    0x1b0,
    0x1b1,
    0x1fc,
    0x606,
    0x610,
    0x613,
    0x614,
    0x620,
    0x621,
    0x64f,
    0x690,
    0x770,
    0x771,
    0x774,
    0x777,
    0xc001_0015,
    0xc001_0061,
    0xc001_0064,
    0xc001_02b3,
];

pub(crate) fn run(input: &[u8]) {
    // As libFuzzer's corpus has them: an input that is too short is none.
    if input.len() < 4 {
        return;
    }
    let values = Unstructured::new(input);
    let Ok((is_amd, family, model, values)) =
        <(bool, u8, u16, Vec<u64>)>::arbitrary_take_rest(values)
    else {
        return;
    };
    values.iter().copied().for_each(decode);
    let mut capture = SERVER
        .replace("cpu family\t: 6", &format!("cpu family\t: {family}"))
        .replace("model\t\t: 207", &format!("model\t\t: {model}"));
    if is_amd {
        capture = capture.replace("GenuineIntel", "AuthenticAMD");
    }
    let places = (0..2).flat_map(|cpu| REGISTERS.map(|register| (cpu, register)));
    for ((cpu, register), value) in places.zip(values) {
        write!(capture, "//- {}\n{value:#x}\n", path(cpu, register)).expect("a String takes all");
    }
    let host = Captured::parse(&capture).expect("a capture with registers is one");
    for (check, finding) in rules::audit::audit(&host::view(&host)).findings {
        let is_odd = |text: &str| ["NaN", "inf ", " -0 "].iter().any(|it| text.contains(it));
        assert!(!is_odd(&finding.message), "{}: {}", check.id, finding.message);
    }
}

fn decode(value: u64) {
    for extended in [None, Some(false), Some(true)] {
        let share = Duty::of_register(value, extended).and_then(Duty::share);
        assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{value:#x}");
    }
    let (capabilities, request) = (Capabilities(value), Request(value));
    assert!(capabilities.highest().max(capabilities.lowest()).max(capabilities.guaranteed()) < 256);
    assert!(request.min().max(request.max()).max(request.preference()) < 256);
}
