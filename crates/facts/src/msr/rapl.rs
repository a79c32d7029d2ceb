//! Power limits of a package.
//!
//! Intel SDM vol. 3B, "Platform Specific Power Management Support", RAPL interfaces.

/// MSR_RAPL_POWER_UNIT (0x606).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units(pub u64);

/// One of the two limits in MSR_PKG_POWER_LIMIT (0x610).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The mean power allowed.
    pub watts: f64,
    /// Over how many seconds.
    pub window: f64,
    /// Whether it counts.
    pub enabled: bool,
    /// Whether the clock may go below what the kernel asked for to keep it.
    pub clamps: bool,
}

impl Units {
    /// Watts in so many of the register's steps: bits 3:0 are the power of two to divide by.
    pub fn watts(self, steps: u64) -> f64 {
        steps as f64 / (1u64 << (self.0 & 0xf)) as f64
    }

    /// Seconds in one of the register's steps, bits 19:16.
    fn seconds(self) -> f64 {
        1.0 / (1u64 << (self.0 >> 16 & 0xf)) as f64
    }

    /// PL1 and PL2 of a value of MSR_PKG_POWER_LIMIT.
    pub fn limits(self, value: u64) -> [Limit; 2] {
        [value & 0xffff_ffff, value >> 32].map(|half| {
            // 2^Y x (1 + Z/4), Y in bits 21:17 and Z in bits 23:22.
            let (y, z) = (half >> 17 & 0x1f, half >> 22 & 0x3);
            Limit {
                watts: self.watts(half & 0x7fff),
                enabled: half >> 15 & 1 == 1,
                clamps: half >> 16 & 1 == 1,
                window: (1u64 << y) as f64 * (1.0 + z as f64 / 4.0) * self.seconds(),
            }
        })
    }

    /// The thermal design power in a value of MSR_PKG_POWER_INFO (0x614), bits 14:0; `None` where the
    /// register does not say.
    pub fn design_power(self, value: u64) -> Option<f64> {
        let watts = self.watts(value & 0x7fff);
        (watts > 0.0).then_some(watts)
    }
}

/// Whether MSR_PKG_POWER_LIMIT cannot be written until the next reset.
pub fn is_locked(limits: u64) -> bool {
    limits >> 63 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_in_watts_and_seconds() {
        let units = Units(0x000a_0e03);
        let [long, short] = units.limits(0x0042_8a28_00dd_8898);
        assert_eq!((long.watts, long.enabled, long.clamps), (275.0, true, true));
        assert!((long.window - 28.0).abs() < 1e-9);
        assert_eq!((short.watts, short.enabled, short.clamps), (325.0, true, false));
        assert_eq!(units.design_power(0x898), Some(275.0));
        assert_eq!(units.design_power(0), None);
    }
}
