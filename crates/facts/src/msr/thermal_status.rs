//! What throttles a core (0x19C) or a package (0x1B1), at the moment and since the log was cleared.
//!
//! Intel SDM vol. 3B, "IA32_THERM_STATUS" and "Package Level Thermal Management". Bits come in pairs: the lower
//! one is the state, the upper one stays set until somebody clears it. Linux clears only the log of bit 0
//! (drivers/thermal/intel/therm_throt.c), so the others carry no date.

use crate::cpu::cpuinfo::CpuInfo;

/// One pair of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The lower bit of the pair.
    bit: u32,
    /// What it says, in words that "holds the clock down" can follow.
    pub name: &'static str,
    /// The flag of /proc/cpuinfo without which the pair does not exist.
    flag: &'static str,
}

/// The processor's own sensor reached its limit.
pub const TOO_HOT: Cause = Cause { bit: 0, name: "its own temperature", flag: "acpi" };
/// Somebody else pulled PROCHOT# or FORCEPR#: power supply, voltage regulator, board, BMC.
pub const PROCHOT: Cause = Cause { bit: 2, name: "PROCHOT# from another device", flag: "acpi" };
/// Close to shutting down.
pub const CRITICAL: Cause = Cause { bit: 4, name: "a critical temperature", flag: "acpi" };
/// A power limit. CPUID.06H:EAX[4] is the flag `pln`.
pub const POWER_LIMIT: Cause = Cause { bit: 10, name: "a power limit", flag: "pln" };
/// A limit of electrical current; core only. CPUID.06H:EAX[7] is the flag `hwp`.
pub const CURRENT_LIMIT: Cause = Cause { bit: 12, name: "a current limit", flag: "hwp" };
/// A limit of another domain (graphics, for instance); core only.
pub const CROSS_DOMAIN: Cause = Cause { bit: 14, name: "a limit of another domain", flag: "hwp" };

impl Cause {
    /// Whether it holds the clock down at the moment of reading.
    pub fn is_active(&self, value: u64) -> bool {
        value >> self.bit & 1 == 1
    }

    /// Whether it has, since boot or since somebody cleared the log.
    pub fn was_logged(&self, value: u64) -> bool {
        value >> (self.bit + 1) & 1 == 1
    }

    /// Whether the processor defines this pair.
    pub fn exists(&self, cpuinfo: &CpuInfo) -> bool {
        cpuinfo.has(self.flag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A blade of 2010 whose chassis pulled PROCHOT#, and the same blade before it did.
    const PULLED: u64 = 0x881f_000c;
    const LOGGED: u64 = 0x881f_0008;

    #[test]
    fn state_and_log_are_told_apart() {
        assert!(PROCHOT.is_active(PULLED) && PROCHOT.was_logged(PULLED));
        assert!(!PROCHOT.is_active(LOGGED) && PROCHOT.was_logged(LOGGED));
        assert!(!TOO_HOT.is_active(PULLED));
    }
}
