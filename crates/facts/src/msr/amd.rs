//! AMD's registers (and Hygon's), with the test that tells whether a processor has each.
//!
//! Sources: AMD PPR for family 17h, 19h and 1Ah, MSRC001_00xx; BKDG for 10h to 16h;
//! arch/x86/include/asm/msr-index.h for CPPC; tools/power/cpupower/utils/helpers/amd.c for the clocks of P-states.

use super::{Processor, Register, Scope};
use crate::{Hertz, Why};
use Scope::{Core, Package, Thread};

type Presence = fn(&Processor<'_>) -> Result<(), Why>;

const fn register(address: u32, name: &'static str, scope: Scope, exists: Presence) -> Register {
    Register { address, name, scope, exists }
}

/// Hardware configuration; bit 25 turns boost off.
pub const HWCR: Register = register(0xc001_0015, "HWCR", Thread, |it| it.family_from(0x10));
/// The highest P-state that firmware allows. CPUID.80000007H:EDX[7] is the flag `hw_pstate`.
pub const PSTATE_LIMIT: Register =
    register(0xc001_0061, "PStateCurLim", Core, |it| it.flag("hw_pstate"));
/// The P-state asked for.
pub const PSTATE_CONTROL: Register =
    register(0xc001_0062, "PStateCtl", Thread, |it| it.flag("hw_pstate"));
/// The P-state that runs.
pub const PSTATE_STATUS: Register =
    register(0xc001_0063, "PStateStat", Core, |it| it.flag("hw_pstate"));
/// P-state 0, the nominal clock.
pub const PSTATE_0: Register =
    register(0xc001_0064, "PStateDef0", Package, |it| it.flag("hw_pstate"));
/// P-state 1.
pub const PSTATE_1: Register =
    register(0xc001_0065, "PStateDef1", Package, |it| it.flag("hw_pstate"));
/// P-state 2, the lowest on most processors.
pub const PSTATE_2: Register =
    register(0xc001_0066, "PStateDef2", Package, |it| it.flag("hw_pstate"));
/// The units of the power registers.
pub const RAPL_POWER_UNIT: Register =
    register(0xc001_0299, "RAPL_PWR_UNIT", Package, |it| it.family_from(0x17));
/// The performance levels that CPPC knows. CPUID.80000008H:EBX[27] is the flag `cppc`.
pub const CPPC_CAPABILITY_1: Register =
    register(0xc001_02b0, "CPPC_CAPABILITY_1", Thread, |it| it.flag("cppc"));
/// Bit 0: CPPC chooses the clock.
pub const CPPC_ENABLE: Register =
    register(0xc001_02b1, "CPPC_ENABLE", Package, |it| it.flag("cppc"));
/// CPPC limits for one CPU.
pub const CPPC_REQUEST: Register =
    register(0xc001_02b3, "CPPC_REQUEST", Thread, |it| it.flag("cppc"));

/// Every register above, in order of addresses.
pub const REGISTERS: &[&Register] = &[
    &HWCR,
    &PSTATE_LIMIT,
    &PSTATE_CONTROL,
    &PSTATE_STATUS,
    &PSTATE_0,
    &PSTATE_1,
    &PSTATE_2,
    &RAPL_POWER_UNIT,
    &CPPC_CAPABILITY_1,
    &CPPC_ENABLE,
    &CPPC_REQUEST,
];

/// The highest P-state that firmware allows in a value of PStateCurLim, bits 2:0; 0 is no limit.
pub fn pstate_limit(value: u64) -> u64 {
    value & 7
}

/// The clock of a P-state in its definition, on families 17h to 1Ah; `None` on others, and where it is not enabled (bit 63).
///
/// Families 17h to 19h: 200 MHz times FID, bits 7:0, over DID, bits 13:8. Family 1Ah: 5 MHz times FID, bits 11:0.
pub fn pstate_clock(family: u32, definition: u64) -> Option<Hertz> {
    let field = |low: u32, width: u32| definition >> low & ((1 << width) - 1);
    if field(63, 1) == 0 {
        return None;
    }
    match family {
        0x17..=0x19 => (200 * field(0, 8)).checked_div(field(8, 6)).map(Hertz::from_mhz),
        0x1a => Some(Hertz::from_mhz(5 * field(0, 12))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_pstate_is_in_its_definition() {
        // An EPYC 7763: 2450 MHz and 1500 MHz.
        assert_eq!(pstate_clock(0x19, 1 << 63 | 0x0862), Some(Hertz::from_mhz(2450)));
        assert_eq!(pstate_clock(0x17, 1 << 63 | 0x0c5a), Some(Hertz::from_mhz(1500)));
        assert_eq!(pstate_clock(0x1a, 1 << 63 | 540), Some(Hertz::from_mhz(2700)));
        assert_eq!(pstate_clock(0x19, 0x0862), None, "it is not enabled");
        assert_eq!(pstate_clock(0x15, 1 << 63 | 0x0862), None);
        assert_eq!(pstate_clock(0x19, 1 << 63 | 0x62), None, "a divisor of 0");
    }

    #[test]
    fn the_limit_is_not_the_number_of_pstates_beside_it() {
        assert_eq!((pstate_limit(0x20), pstate_limit(0x22)), (0, 2));
    }
}
