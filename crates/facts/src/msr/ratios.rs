//! Clocks as ratios to the bus clock, and turbo ratio limits: the clock that the processor allows for a number of active cores.
//!
//! MSR_TURBO_RATIO_LIMIT (0x1AD) and its relatives have four layouts. Sources: tools/power/x86/turbostat/turbostat.c
//! (trl_msrs of platform_features) and Intel SDM vol. 4; a model on which they or intel/pepc disagree has none here.
//! The ratios hold for scalar and SSE code: AVX2, AVX-512 and AMX code runs below them by design on the servers from
//! Haswell on (Intel's specification updates, "AVX turbo frequencies").
//!
//! Other clocks are ratios to the bus clock, too, and bits decide on them: Intel SDM vol. 4; AMD PPR, MSRC001_0015.

use crate::Hertz;
use crate::cpu::cpuinfo::CpuInfo;

/// How a model lays out its turbo ratios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Byte N of 0x1AD holds for N + 1 active cores, and for all beyond the eighth.
    ByCore,
    /// The same, and other registers go on beyond eight cores.
    ByCoreInMore,
    /// Byte N of 0x1AD holds for as many active cores as byte N of 0x1AE says.
    ByBucket,
}

impl Layout {
    /// The layout of a processor; `None` where 0x1AD holds something else, or what it holds is in doubt.
    pub fn of(info: &CpuInfo) -> Option<Layout> {
        if !info.is_intel() || info.family != 6 {
            return None;
        }
        match info.model {
            // Nehalem-EX and Westmere-EX have no such register; Knights Landing and Mill count by groups of their own;
            // Silvermont and Airmont keep theirs elsewhere. On Goldmont Plus turbostat and pepc disagree.
            0x2e | 0x2f | 0x57 | 0x85 | 0x37 | 0x4a | 0x4c | 0x5a | 0x5d | 0x75 | 0x7a => None,
            // Skylake-SP to Clearwater Forest; Goldmont, Denverton, Snow Ridge, Grand Ridge.
            0x55 | 0x6a | 0x6c | 0x8f | 0xcf | 0xad | 0xae | 0xaf | 0xdd => Some(Layout::ByBucket),
            0x5c | 0x5f | 0x86 | 0xb6 => Some(Layout::ByBucket),
            // Ivy Bridge, Haswell and Broadwell servers: 0x1AE, 0x1AF.
            0x3e | 0x3f | 0x4f | 0x56 => Some(Layout::ByCoreInMore),
            _ => Some(Layout::ByCore),
        }
    }

    /// The clock for `n_active` cores, from the values of 0x1AD and, for [`Layout::ByBucket`], of 0x1AE.
    ///
    /// `None`: that register was not read, or another one has it.
    pub fn clock(
        self,
        info: &CpuInfo,
        n_active: usize,
        limit: u64,
        counts: Option<u64>,
    ) -> Option<Hertz> {
        let counts = match self {
            Layout::ByBucket => counts?.to_le_bytes(),
            Layout::ByCoreInMore if n_active > 8 => return None,
            Layout::ByCore | Layout::ByCoreInMore => [1, 2, 3, 4, 5, 6, 7, 8],
        };
        let mut buckets = counts.into_iter().zip(limit.to_le_bytes()).filter(|it| it.1 > 0);
        let enough = buckets.clone().find(|(count, _)| usize::from(*count) >= n_active);
        let (_, ratio) = enough.or_else(|| buckets.next_back())?;
        Some(Hertz(bus_clock(info)?.0.saturating_mul(ratio.into())))
    }
}

/// Whether AVX2, AVX-512 and AMX code runs below the ratios of 0x1AD by design: the servers from Haswell to Emerald Rapids.
pub fn are_for_scalar_code(info: &CpuInfo) -> bool {
    let is_server = matches!(info.model, 0x3f | 0x4f | 0x56 | 0x55 | 0x6a | 0x6c | 0x8f | 0xcf);
    info.is_intel() && info.family == 6 && is_server && info.has("avx2")
}

/// The ratios for the fewest and for the most active cores of which 0x1AD says something; more cores may be slower still.
/// `None` where the register of this processor does not hold ratios byte by byte.
pub fn range(info: &CpuInfo, limit: u64) -> Option<(u8, u8)> {
    Layout::of(info)?;
    let mut ratios = limit.to_le_bytes().into_iter().filter(|it| *it > 0);
    let first = ratios.next()?;
    Some((first, ratios.next_back().unwrap_or(first)))
}

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
    fn the_range_is_from_the_first_ratio_to_the_last_that_is_set() {
        let range = |model: u32, limit| {
            let info =
                CpuInfo { vendor: "GenuineIntel".into(), family: 6, model, ..CpuInfo::default() };
            range(&info, limit)
        };
        assert_eq!(range(0x55, 0x1c1c_1d21), Some((0x21, 0x1c)));
        assert_eq!(range(0x9e, 0x21), Some((0x21, 0x21)));
        assert_eq!(range(0x9e, 0), None);
        // Knights Landing counts groups of cores of its own.
        assert_eq!(range(0x57, 0x1c1c_1d21), None);
    }

    fn clock(model: u32, n_active: usize, limit: u64, counts: Option<u64>) -> Option<u64> {
        let info =
            CpuInfo { vendor: "GenuineIntel".into(), family: 6, model, ..CpuInfo::default() };
        let clock = Layout::of(&info)?.clock(&info, n_active, limit, counts);
        clock.map(|it| it.0 / 1_000_000)
    }

    #[test]
    fn a_xeon_d_with_sixteen_cores_keeps_the_ratios_of_more_than_eight_elsewhere() {
        let limit = 0x1a1a_1b1b_1c1c_1d1d;
        assert_eq!(clock(0x56, 8, limit, None), Some(2600));
        assert_eq!(clock(0x56, 12, limit, None), None);
    }

    #[test]
    fn servers_of_small_cores_count_by_buckets_too() {
        for model in [0xdd, 0x5f, 0x86, 0xb6, 0xaf, 0x55] {
            let (limit, counts) = (0x1a1c_1e20, Some(0x2018_1008));
            assert_eq!(clock(model, 9, limit, counts), Some(3000), "{model:#x}");
            assert_eq!(clock(model, 9, limit, None), None, "{model:#x}");
        }
    }

    #[test]
    fn the_first_byte_of_a_knights_landing_is_no_ratio() {
        assert_eq!(clock(0x57, 1, 0x1d02, None), None);
        assert_eq!(clock(0x85, 1, 0x1d02, None), None);
    }

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
