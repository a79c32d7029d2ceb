//! Power limits of a package, in its registers, and the units of everything that RAPL counts.
//!
//! Intel SDM vol. 3B, "Platform Specific Power Management Support", RAPL interfaces.

use crate::Microwatts;

/// MSR_RAPL_POWER_UNIT (0x606).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units(pub u64);

/// One of the two limits in MSR_PKG_POWER_LIMIT (0x610).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The mean power allowed.
    pub power: Microwatts,
    /// Whether it counts.
    pub is_enabled: bool,
}

impl Units {
    /// The power of so many of the register's steps: bits 3:0 are the power of two that a watt is divided by.
    fn power(self, steps: u64) -> Microwatts {
        Microwatts((steps * 1_000_000) >> (self.0 & 0xf))
    }

    /// The power of two that a joule is divided by, bits 12:8.
    pub fn energy(self) -> u32 {
        (self.0 >> 8 & 0x1f) as u32
    }

    /// The microseconds in so many steps of a count of time; bits 19:16 are the power of two that a second is divided by.
    pub fn microseconds(self, steps: u32) -> u64 {
        (u64::from(steps) * 1_000_000) >> (self.0 >> 16 & 0xf)
    }

    /// The long-term and the short-term limit in a value of MSR_PKG_POWER_LIMIT.
    pub fn limits(self, value: u64) -> [Limit; 2] {
        [value & 0xffff_ffff, value >> 32]
            .map(|half| Limit { power: self.power(half & 0x7fff), is_enabled: half >> 15 & 1 == 1 })
    }

    /// The thermal design power in a value of MSR_PKG_POWER_INFO (0x614), or of a level in MSR_CONFIG_TDP_LEVEL1 and 2
    /// (0x649, 0x64A): bits 14:0; 0 where the register does not say.
    pub fn design_power(self, value: u64) -> Microwatts {
        self.power(value & 0x7fff)
    }
}

/// The configurable TDP level in a value of MSR_CONFIG_TDP_CONTROL (0x64B), bits 1:0: 0 is the base level.
pub fn tdp_level(control: u64) -> u64 {
    control & 3
}

/// Whether MSR_PKG_POWER_LIMIT cannot be written until the next reset.
pub fn is_locked(limits: u64) -> bool {
    limits >> 63 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_in_watts() {
        let units = Units(0x000a_0e03);
        let watts =
            |watts: u64, is_enabled| Limit { power: Microwatts(watts * 1_000_000), is_enabled };
        let limits = units.limits(0x8006_8570_005a_8488);
        assert_eq!(limits, [watts(145, true), watts(174, true)]);
        assert_eq!(units.limits(0x0000_0570_0000_0488), [watts(145, false), watts(174, false)]);
        assert_eq!(units.design_power(0x2f_0910_01f0_0488), Microwatts(145_000_000));
        assert!(is_locked(0x8006_8570_005a_8488));
    }

    #[test]
    fn energy_and_time_have_units_of_their_own() {
        let units = Units(0x000a_0e03);
        assert_eq!((units.energy(), units.microseconds(2048)), (14, 2_000_000));
        assert_eq!(units.microseconds(u32::MAX), 4_194_303_999_023);
    }
}
