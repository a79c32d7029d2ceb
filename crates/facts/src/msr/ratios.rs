//! Clocks as ratios to the bus clock, and the bits that decide on them.
//!
//! Intel SDM vol. 4; AMD PPR, MSRC001_0015.

use crate::Hertz;
use crate::cpu::cpuinfo::CpuInfo;

/// The clock that Intel's ratios count: 133.33 MHz on Nehalem and Westmere, 100 MHz from Sandy Bridge on; `None`
/// where it differs from part to part (Silvermont, Airmont).
pub fn bus_clock(cpuinfo: &CpuInfo) -> Option<Hertz> {
    match (cpuinfo.family, cpuinfo.model) {
        (6, 0x1a | 0x1e | 0x1f | 0x2e | 0x25 | 0x2c | 0x2f) => Some(Hertz(133_333_333)),
        (6, 0x37 | 0x4a | 0x4c | 0x4d | 0x5a | 0x5d | 0x75) => None,
        (6, 0x2a..) | (18..=19, _) => Some(Hertz::from_mhz(100)),
        _ => None,
    }
}

/// The base ratio in MSR_PLATFORM_INFO, bits 15:8.
pub fn base(platform_info: u64) -> u64 {
    platform_info >> 8 & 0xff
}

/// The lowest ratio in MSR_PLATFORM_INFO, bits 47:40; `None` where the register does not say.
pub fn lowest(platform_info: u64) -> Option<u64> {
    Some(platform_info >> 40 & 0xff).filter(|&ratio| ratio > 0)
}

/// Whether firmware keeps P-states to itself: MSR_MISC_PWR_MGMT (0x1AA) bit 8 or 18.
///
/// Source: drivers/cpufreq/intel_pstate.c, BITMASK_OOB; the driver does not load then.
pub fn is_out_of_band(misc_pwr_mgmt: u64) -> bool {
    misc_pwr_mgmt & (1 << 8 | 1 << 18) != 0
}

/// Whether IA32_MISC_ENABLE (0x1A0) turns turbo off, bit 38.
pub fn turbo_is_off(misc_enable: u64) -> bool {
    misc_enable >> 38 & 1 == 1
}

/// The uncore's lowest and highest ratio, to 100 MHz, in MSR_UNCORE_RATIO_LIMIT (0x620).
pub fn uncore(limit: u64) -> (u64, u64) {
    (limit >> 8 & 0x7f, limit & 0x7f)
}

/// Whether AMD's HWCR (0xC0010015) turns boost off for a core, bit 25.
pub fn boost_is_off(hwcr: u64) -> bool {
    hwcr >> 25 & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_without_a_lowest_ratio_has_none() {
        assert_eq!(lowest(0x0a00_8000_1800), Some(10));
        assert_eq!(lowest(0), None);
    }

    #[test]
    fn a_westmere_counts_in_133_mhz() {
        let info = |model| CpuInfo { family: 6, model, ..CpuInfo::default() };
        assert_eq!(bus_clock(&info(0x2c)), Some(Hertz(133_333_333)));
        assert_eq!(bus_clock(&info(0x55)), Some(Hertz::from_mhz(100)));
        assert_eq!(bus_clock(&info(0x37)), None);
    }
}
