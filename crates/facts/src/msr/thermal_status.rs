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

    /// Whether it began to between two readings, the earlier first. Where the log was set before, nobody can tell.
    pub fn rose(&self, before: u64, after: u64) -> bool {
        self.was_logged(after) && !self.was_logged(before)
    }

    /// Whether the processor defines this pair.
    pub fn exists(&self, cpuinfo: &CpuInfo) -> bool {
        cpuinfo.has(self.flag)
    }
}

/// The temperature in a value of 0x19C or 0x1B1, in degrees Celsius, where `target` is what
/// [`intel::TEMPERATURE_TARGET`](super::intel::TEMPERATURE_TARGET) holds. The limit that can be set lower, bits 29:24
/// of the target, does not move the scale (drivers/thermal/intel/intel_tcc.c, intel_tcc_get_temp).
///
/// `None`: the sensor is out of its range (bit 31 is 0), the target is 0, or below the sensor's distance from it.
pub fn temperature(value: u64, target: u64) -> Option<u64> {
    let (limit, below) = (target >> 16 & 0xff, value >> 16 & 0x7f);
    let is_valid = value >> 31 & 1 == 1 && limit > 0;
    limit.checked_sub(below).filter(|_| is_valid)
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

    #[test]
    fn a_log_that_was_set_before_tells_nothing_of_what_came_after() {
        assert!(PROCHOT.rose(LOGGED & !8, LOGGED));
        assert!(!PROCHOT.rose(LOGGED, PULLED) && !PROCHOT.rose(LOGGED, LOGGED & !8));
    }

    #[test]
    fn degrees_count_down_from_the_target() {
        assert_eq!(temperature(0x8845_0000, 0x0064_0000), Some(100 - 69));
        assert_eq!(temperature(0x8845_0000, 0x0a64_0000), Some(100 - 69));
        assert_eq!(temperature(0x0845_0000, 0x0064_0000), None);
        assert_eq!(temperature(0x8845_0000, 0), None);
        assert_eq!(temperature(0x887f_0000, 0x0064_0000), None);
    }
}
