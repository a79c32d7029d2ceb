//! RAPL: power limits of a package, energy counters, and the units of both.
//!
//! Sources: Intel SDM vol. 3B, "Platform Specific Power Management Support", RAPL interfaces;
//! arch/x86/events/rapl.c (rapl_model_match) and tools/power/x86/turbostat/turbostat.c (plat_rapl_msrs), of which
//! only what both list is listed here. AMD: PPR for family 17h, MSRC001_029A and _029B. The energy counters are 32
//! bits wide and wrap after some minutes at full power. Granite Rapids and later servers report their energy by
//! TPMI and have no register for it.

use super::{Register, Scope, amd, intel};
use crate::Microwatts;
use crate::cpu::cpuinfo::CpuInfo;

/// MSR_RAPL_POWER_UNIT (0x606).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units(pub u64);

/// One of the two limits in MSR_PKG_POWER_LIMIT (0x610).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The average power allowed.
    pub power: Microwatts,
    /// Whether it is enabled.
    pub is_enabled: bool,
}

impl Units {
    /// The power of `steps` units: a unit is 1 W / 2^n, with n in bits 3:0.
    fn power(self, steps: u64) -> Microwatts {
        Microwatts((steps * 1_000_000) >> (self.0 & 0xf))
    }

    /// The exponent n of the energy unit, 1 J / 2^n: bits 12:8.
    pub fn energy(self) -> u32 {
        (self.0 >> 8 & 0x1f) as u32
    }

    /// The microseconds of `steps` units: a unit is 1 s / 2^n, with n in bits 19:16.
    pub fn microseconds(self, steps: u32) -> u64 {
        (u64::from(steps) * 1_000_000) >> (self.0 >> 16 & 0xf)
    }

    /// The long-term and the short-term limit in a value of MSR_PKG_POWER_LIMIT.
    pub fn limits(self, value: u64) -> [Limit; 2] {
        [value & 0xffff_ffff, value >> 32]
            .map(|half| Limit { power: self.power(half & 0x7fff), is_enabled: half >> 15 & 1 == 1 })
    }

    /// The thermal design power in a value of MSR_PKG_POWER_INFO (0x614), or of a level in MSR_CONFIG_TDP_LEVEL1 and
    /// 2 (0x649, 0x64A): bits 14:0; 0 means unknown.
    pub fn design_power(self, value: u64) -> Microwatts {
        self.power(value & 0x7fff)
    }
}

/// The configurable TDP level in a value of MSR_CONFIG_TDP_CONTROL (0x64B), bits 1:0: 0 is the base level.
pub fn tdp_level(control: u64) -> u64 {
    control & 3
}

/// Whether MSR_PKG_POWER_LIMIT is locked until the next reset.
pub fn is_locked(limits: u64) -> bool {
    limits >> 63 == 1
}

/// A domain with an energy counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    /// The part of a package, by its name in powercap: `core`, `dram`; `None` for the package itself.
    pub part: Option<&'static str>,
    /// The register, whose bits 31:0 count.
    pub address: u32,
    /// Which CPUs share it. Where the scope is a core, the part is the sum over all cores.
    pub scope: Scope,
    /// The exponent of the energy unit, where the register of units does not apply.
    fixed_unit: Option<u32>,
}

/// The domains of a processor, and the register with their unit; `None` where it has no known counter.
pub fn domains(cpuinfo: &CpuInfo) -> Option<(&'static Register, &'static [Domain])> {
    if cpuinfo.is_amd() {
        return (cpuinfo.family >= 0x17).then_some((&amd::RAPL_POWER_UNIT, AMD));
    }
    if !cpuinfo.is_intel() || cpuinfo.family != 6 {
        return None;
    }
    let (_, domains) = MODELS.iter().find(|(models, _)| models.contains(&cpuinfo.model))?;
    Some((&intel::RAPL_POWER_UNIT, domains))
}

impl Domain {
    /// The exponent n of the energy unit, 1 J / 2^n; `None` where the register of units says 0: no counter has a unit
    /// of 1 J.
    pub fn unit(&self, units: Units) -> Option<u32> {
        self.fixed_unit.or_else(|| Some(units.energy()).filter(|it| *it > 0))
    }
}

const fn domain(part: Option<&'static str>, address: u32, scope: Scope) -> Domain {
    Domain { part, address, scope, fixed_unit: None }
}

// arch/x86/include/asm/msr-index.h: MSR_PKG_ENERGY_STATUS and the like.
const PACKAGE: Domain = domain(None, 0x611, Scope::Package);
const CORES: Domain = domain(Some("core"), 0x639, Scope::Package);
const DRAM: Domain = domain(Some("dram"), 0x619, Scope::Package);
/// DRAM of Haswell-EP to Ice Lake-SP counts in 2^-16 J whatever the register of units says
/// (RAPL_UNIT_QUIRK_INTEL_HSW; drivers/powercap/intel_rapl_common.c rounds it to 15.3 uJ, dram_domain_energy_unit).
const SERVER_DRAM: Domain = Domain { fixed_unit: Some(16), ..DRAM };

const AMD: &[Domain] =
    &[domain(None, 0xc001_029b, Scope::Package), domain(Some("core"), 0xc001_029a, Scope::Core)];

/// By model of family 6 (arch/x86/include/asm/intel-family.h).
static MODELS: &[(&[u32], &[Domain])] = &[
    // Clients from Sandy Bridge to Broadwell.
    (&[0x2a, 0x3a, 0x3c, 0x45, 0x46, 0x3d, 0x47], &[PACKAGE, CORES]),
    // Sandy Bridge-EP, Ivy Bridge-EP, Denverton.
    (&[0x2d, 0x3e, 0x5f], &[PACKAGE, CORES, DRAM]),
    // Haswell-EP, Broadwell-EP and -D, Skylake-SP, Ice Lake-SP and -D, Knights Landing and Mill.
    (&[0x3f, 0x4f, 0x56, 0x55, 0x6a, 0x6c, 0x57, 0x85], &[PACKAGE, SERVER_DRAM]),
    // Sapphire Rapids, Emerald Rapids.
    (&[0x8f, 0xcf], &[PACKAGE, DRAM]),
    // Clients from Skylake to Lunar Lake.
    (
        &[
            0x4e, 0x5e, 0x8e, 0x9e, 0xa5, 0xa6, 0x66, 0x7e, 0x8c, 0x8d, 0x97, 0x9a, 0xbe, 0xb7,
            0xba, 0xbf, 0xaa, 0xac, 0xc5, 0xc6, 0xbd,
        ],
        &[PACKAGE, CORES, DRAM],
    ),
    // Goldmont, Goldmont Plus.
    (&[0x5c, 0x7a], &[PACKAGE]),
];

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

    fn shown(vendor: &str, family: u32, model: u32) -> String {
        let info = CpuInfo { vendor: vendor.into(), family, model, ..CpuInfo::default() };
        let Some((units, domains)) = domains(&info) else { return "none".to_owned() };
        // 2^-14 J, as most of Intel's.
        let one = |it: &Domain| {
            let unit = it.unit(Units(0x000a_0e03)).unwrap();
            format!("{} {:#x} 2^-{unit}", it.part.unwrap_or("package"), it.address)
        };
        let domains: Vec<String> = domains.iter().map(one).collect();
        format!("{:#x}: {}", units.address, domains.join(", "))
    }

    #[test]
    fn memory_of_a_server_has_a_unit_of_its_own() {
        let domains = "0x606: package 0x611 2^-14, dram 0x619 2^-16";
        assert_eq!(shown("GenuineIntel", 6, 0x55), domains);
        assert_eq!(shown("GenuineIntel", 6, 0x8f), "0x606: package 0x611 2^-14, dram 0x619 2^-14");
    }

    #[test]
    fn amd_counts_each_core() {
        let domains = "0xc0010299: package 0xc001029b 2^-14, core 0xc001029a 2^-14";
        assert_eq!(shown("AuthenticAMD", 0x19, 1), domains);
        assert_eq!(shown("AuthenticAMD", 0x15, 1), "none");
    }

    #[test]
    fn a_unit_of_a_joule_is_none() {
        assert_eq!((PACKAGE.unit(Units(0)), SERVER_DRAM.unit(Units(0))), (None, Some(16)));
    }
}
