//! Which processors count the energy that they use, in which registers, and in which unit.
//!
//! Sources: arch/x86/events/rapl.c (rapl_model_match) and tools/power/x86/turbostat/turbostat.c (plat_rapl_msrs);
//! listed is what both list. AMD: PPR for family 17h, MSRC001_029A and _029B. The counters are 32 bits wide and
//! start again at 0 after some minutes of full power. Granite Rapids and later servers tell of their energy by TPMI
//! and have no register for it.

use super::rapl::Units;
use super::{Register, Scope, amd, intel};
use crate::cpu::cpuinfo::CpuInfo;

/// What a register counts the energy of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    /// As powercap calls the part of a package: `core`, `dram`; `None` for the package itself.
    pub part: Option<&'static str>,
    /// The register; bits 31:0 count.
    pub address: u32,
    /// Which CPUs share it: where those are a core's, the part is all of them together.
    pub scope: Scope,
    /// The power of two that a joule is divided by, where the register of units does not say.
    fixed_unit: Option<u32>,
}

/// The domains of a processor, and the register with their unit; `None` where it counts none that is known.
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
    /// The power of two that a joule is divided by; `None` where the register of units says 0, which is a joule and
    /// none of these counts.
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
/// Memory of Haswell-EP to Ice Lake-SP counts in 2^-16 J whatever the units say (RAPL_UNIT_QUIRK_INTEL_HSW; drivers/
/// powercap/intel_rapl_common.c rounds it to 15.3 uJ, dram_domain_energy_unit).
const SERVER_DRAM: Domain = Domain { fixed_unit: Some(16), ..DRAM };

const AMD: &[Domain] =
    &[domain(None, 0xc001_029b, Scope::Package), domain(Some("core"), 0xc001_029a, Scope::Core)];

/// By model of family 6, whose numbers are those of arch/x86/include/asm/intel-family.h.
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
