//! AMD's registers (and Hygon's), with the test that tells whether a processor has each.
//!
//! Sources: AMD PPR for family 17h, 19h and 1Ah, MSRC001_00xx; BKDG for 10h to 16h;
//! arch/x86/include/asm/msr-index.h for CPPC.

use super::register::{Processor, Register, Scope};
use crate::Why;
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
