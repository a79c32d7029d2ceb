//! Intel's registers, with the test that tells whether a processor has each.
//!
//! Where no source is named, it is the SDM, vol. 4, table 2-2 (architectural registers) and the tables of
//! the models that follow it. A scope is that of reading: the smallest that a model has. MSR_POWER_CTL acts on the package,
//! on Cascade Lake-AP on the die, and bits of MSR 0xE2 on the package, though each core reads its own copy; MSR 0x1B0 is
//! the package's on Westmere and Sandy Bridge (intel/pepc, docs/misc-msr-scope.md). A model that lacks one all the same
//! refuses the read, which makes a verdict unknown and never wrong.

use super::{Processor, Register, Scope};
use crate::Why;
use Scope::{Core, Package, Thread};

type Presence = fn(&Processor<'_>) -> Result<(), Why>;

const fn register(address: u32, name: &'static str, scope: Scope, exists: Presence) -> Register {
    Register { address, name, scope, exists }
}

/// System management interrupts since reset, bits 31:0.
pub const SMI_COUNT: Register = register(0x34, "MSR_SMI_COUNT", Package, nehalem_or_later);
/// Base and minimum ratio.
pub const PLATFORM_INFO: Register = register(0xce, "MSR_PLATFORM_INFO", Package, nehalem_or_later);
/// The deepest package C-state allowed.
pub const PKG_CST_CONFIG_CONTROL: Register =
    register(0xe2, "MSR_PKG_CST_CONFIG_CONTROL", Core, nehalem_or_later);
/// The running ratio.
pub const PERF_STATUS: Register = register(0x198, "IA32_PERF_STATUS", Core, |it| it.flag("est"));
/// The requested ratio; bit 32 keeps a CPU out of turbo.
pub const PERF_CTL: Register = register(0x199, "IA32_PERF_CTL", Thread, |it| it.flag("est"));
/// On-demand clock modulation. CPUID.01H:EDX[22] is the kernel's flag `acpi`.
pub const CLOCK_MODULATION: Register =
    register(0x19a, "IA32_CLOCK_MODULATION", Thread, |it| it.flag("acpi"));
/// What throttles a core. CPUID.01H:EDX[22], as above.
pub const THERM_STATUS: Register = register(0x19c, "IA32_THERM_STATUS", Core, |it| it.flag("acpi"));
/// Bit 38 turns turbo off.
pub const MISC_ENABLE: Register = register(0x1a0, "IA32_MISC_ENABLE", Package, nehalem_or_later);
/// The temperature at which the processor throttles itself.
pub const TEMPERATURE_TARGET: Register =
    register(0x1a2, "MSR_TEMPERATURE_TARGET", Package, nehalem_or_later);
/// Who coordinates P-states.
pub const MISC_PWR_MGMT: Register = register(0x1aa, "MSR_MISC_PWR_MGMT", Package, nehalem_or_later);
/// Turbo ratios, a byte for each bucket of active cores. Silvermont and Airmont keep theirs elsewhere.
pub const TURBO_RATIO_LIMIT: Register =
    register(0x1ad, "MSR_TURBO_RATIO_LIMIT", Package, nehalem_or_later);
/// More turbo ratios (Ivy Bridge to Broadwell servers), or the cores of each bucket (Skylake-SP and later,
/// Goldmont and later).
pub const TURBO_RATIO_LIMIT1: Register =
    register(0x1ae, "MSR_TURBO_RATIO_LIMIT1", Package, |it| it.model_of(MORE_TURBO_RATIOS));
/// The bias between performance and energy. CPUID.06H:ECX[3] is the flag `epb`.
pub const ENERGY_PERF_BIAS: Register =
    register(0x1b0, "IA32_ENERGY_PERF_BIAS", Thread, |it| it.flag("epb"));
/// What throttles a package. CPUID.06H:EAX[6] is the flag `pts`.
pub const PACKAGE_THERM_STATUS: Register =
    register(0x1b1, "IA32_PACKAGE_THERM_STATUS", Package, |it| it.flag("pts"));
/// Bit 0 lets others than the processor assert PROCHOT#; bit 1 is C1E.
pub const POWER_CTL: Register = register(0x1fc, "MSR_POWER_CTL", Core, nehalem_or_later);
/// The units of the power registers.
pub const RAPL_POWER_UNIT: Register =
    register(0x606, "MSR_RAPL_POWER_UNIT", Package, sandy_bridge_or_later);
/// The package's power limits PL1 and PL2.
pub const PKG_POWER_LIMIT: Register =
    register(0x610, "MSR_PKG_POWER_LIMIT", Package, sandy_bridge_or_later);
/// Time that the package was held back by its power limit.
pub const PKG_PERF_STATUS: Register =
    register(0x613, "MSR_PKG_PERF_STATUS", Package, |it| it.model_of(PACKAGE_THROTTLE_TIME));
/// Time that memory was held back by its power limit. Not for the audit: a time says nothing without a second one.
pub const DRAM_PERF_STATUS: Register =
    register(0x61b, "MSR_DRAM_PERF_STATUS", Package, |it| it.model_of(PACKAGE_THROTTLE_TIME));
/// The package's thermal design power.
pub const PKG_POWER_INFO: Register =
    register(0x614, "MSR_PKG_POWER_INFO", Package, sandy_bridge_or_later);
/// The uncore's highest and lowest ratio.
pub const UNCORE_RATIO_LIMIT: Register =
    register(0x620, "MSR_UNCORE_RATIO_LIMIT", Package, |it| it.model_of(UNCORE_RATIOS));
/// The uncore's running ratio.
pub const UNCORE_PERF_STATUS: Register =
    register(0x621, "MSR_UNCORE_PERF_STATUS", Package, |it| it.model_of(UNCORE_RATIOS));
/// Why the clock is below the request, from Skylake to Ice Lake, on clients to Raptor Lake.
pub const PERF_LIMIT_REASONS: Register =
    register(0x64f, "MSR_CORE_PERF_LIMIT_REASONS", Package, |it| it.model_of(LIMIT_REASONS));
/// The same on Haswell and Broadwell.
pub const PERF_LIMIT_REASONS_HASWELL: Register =
    register(0x690, "MSR_CORE_PERF_LIMIT_REASONS", Package, |it| {
        it.model_of(LIMIT_REASONS_HASWELL)
    });
/// Power and clock of configurable TDP levels 1 and 2, in the layout of MSR 0x614.
pub const CONFIG_TDP_LEVEL_1: Register =
    register(0x649, "MSR_CONFIG_TDP_LEVEL1", Package, |it| it.model_of(CONFIG_TDP));
/// The same of level 2.
pub const CONFIG_TDP_LEVEL_2: Register =
    register(0x64a, "MSR_CONFIG_TDP_LEVEL2", Package, |it| it.model_of(CONFIG_TDP));
/// Bits 1:0: the configurable TDP level that firmware chose; 0 is the base level.
pub const CONFIG_TDP_CONTROL: Register =
    register(0x64b, "MSR_CONFIG_TDP_CONTROL", Package, |it| it.model_of(CONFIG_TDP));
/// Bit 0: the hardware chooses P-states (HWP). CPUID.06H:EAX[7] is the flag `hwp`.
pub const PM_ENABLE: Register = register(0x770, "IA32_PM_ENABLE", Package, |it| it.flag("hwp"));
/// The performance levels that HWP knows.
pub const HWP_CAPABILITIES: Register =
    register(0x771, "IA32_HWP_CAPABILITIES", Thread, |it| it.flag("hwp"));
/// HWP limits for the package. CPUID.06H:EAX[11] is the flag `hwp_pkg_req`.
pub const HWP_REQUEST_PKG: Register =
    register(0x772, "IA32_HWP_REQUEST_PKG", Package, |it| it.flag("hwp_pkg_req"));
/// HWP limits for one CPU.
pub const HWP_REQUEST: Register = register(0x774, "IA32_HWP_REQUEST", Thread, |it| it.flag("hwp"));
/// What the management controller requests over PECI instead, one request for the package. CPUID.06H:EAX[16] has no flag.
pub const HWP_PECI_REQUEST: Register =
    register(0x775, "IA32_HWP_PECI_REQUEST_INFO", Package, |it| it.leaf6_eax(16));
/// What HWP had to do below the request.
pub const HWP_STATUS: Register = register(0x777, "IA32_HWP_STATUS", Thread, |it| it.flag("hwp"));
/// Bit 0: the hardware forces idle (HDC). CPUID.06H:EAX[13] has no flag.
pub const PKG_HDC_CTL: Register =
    register(0xdb0, "IA32_PKG_HDC_CTL", Package, |it| it.leaf6_eax(13));

/// Those above that an audit reads, in order of addresses.
pub const REGISTERS: &[&Register] = &[
    &SMI_COUNT,
    &PLATFORM_INFO,
    &PKG_CST_CONFIG_CONTROL,
    &PERF_STATUS,
    &PERF_CTL,
    &CLOCK_MODULATION,
    &THERM_STATUS,
    &MISC_ENABLE,
    &TEMPERATURE_TARGET,
    &MISC_PWR_MGMT,
    &TURBO_RATIO_LIMIT,
    &TURBO_RATIO_LIMIT1,
    &ENERGY_PERF_BIAS,
    &PACKAGE_THERM_STATUS,
    &POWER_CTL,
    &RAPL_POWER_UNIT,
    &PKG_POWER_LIMIT,
    &PKG_PERF_STATUS,
    &PKG_POWER_INFO,
    &UNCORE_RATIO_LIMIT,
    &UNCORE_PERF_STATUS,
    &CONFIG_TDP_LEVEL_1,
    &CONFIG_TDP_LEVEL_2,
    &CONFIG_TDP_CONTROL,
    &PERF_LIMIT_REASONS,
    &PERF_LIMIT_REASONS_HASWELL,
    &PM_ENABLE,
    &HWP_CAPABILITIES,
    &HWP_REQUEST_PKG,
    &HWP_REQUEST,
    &HWP_PECI_REQUEST,
    &HWP_STATUS,
    &PKG_HDC_CTL,
];

// Model numbers are those of arch/x86/include/asm/intel-family.h.

/// Models with TRL_LIMIT1 or TRL_CORECOUNT in turbostat.c (trl_msrs), and those for which Intel SDM vol. 4 or intel/pepc
/// (TurboRatioLimit1.py) have the register: Broadwell-EP and -D, Goldmont Plus, Tremont.
const MORE_TURBO_RATIOS: &[u32] = &[
    // Ivy Bridge-EP, Haswell-EP, Broadwell-EP and -D: further ratios.
    0x3e, 0x3f, 0x4f, 0x56, // Skylake-SP to Clearwater Forest: core counts.
    0x55, 0x6a, 0x6c, 0x8f, 0xcf, 0xad, 0xae, 0xaf, 0xdd, // Goldmont to Grand Ridge.
    0x5c, 0x5f, 0x7a, 0x86, 0x96, 0x9c, 0xb6,
];

/// Servers from Sandy Bridge-EP on (turbostat.c, RAPL_PKG_PERF_STATUS and RAPL_DRAM_PERF_STATUS).
const PACKAGE_THROTTLE_TIME: &[u32] =
    &[0x2d, 0x3e, 0x3f, 0x4f, 0x56, 0x55, 0x57, 0x85, 0x6a, 0x6c, 0x8f, 0xcf, 0xad, 0xae, 0xaf];

/// Models that drivers/platform/x86/intel/uncore-frequency/uncore-frequency.c drives through the register,
/// and Haswell-EP; Granite Rapids and later servers use TPMI instead.
const UNCORE_RATIOS: &[u32] = &[
    0x3f, 0x4f, 0x56, 0x55, 0x6a, 0x6c, 0x8f, 0xcf, // servers
    0x47, 0x8e, 0x9e, 0xa5, 0xa6, 0x66, 0x7d, 0x7e, 0xa7, 0x8c, 0x8d, 0x97, 0x9a, 0xb7, 0xba, 0xbf,
    0xaa, 0xac, 0xc5, 0xc6, 0xb5, 0xbd, // clients
];

/// Models with has_config_tdp in turbostat.c.
const CONFIG_TDP: &[u32] = &[
    0x3f, 0x4f, 0x56, 0x55, 0x6a, 0x6c, // servers
    0x3a, 0x3c, 0x45, 0x46, 0x3d, 0x47, 0x4e, 0x5e, 0x8e, 0x9e, 0xa5, 0xa6, 0x66, // clients
];

/// Clients of generations 6 to 13 and Xeon Scalable 1 to 3 (SDM vol. 4 of March 2023, table 2-39, "Additional MSRs Supported by the 6th
/// Generation ... Intel Core Processors"; edk2 SkylakeMsr.h). Of the 12th and 13th generations the same manual names the registers of that
/// table that they lack, and this is none of them. Later issues list Sapphire Rapids and later servers for that section; until it
/// is shown that the register is right there, they stay unknown.
pub(super) const LIMIT_REASONS: &[u32] = &[
    0x4e, 0x5e, 0x8e, 0x9e, 0xa5, 0xa6, 0x66, 0x7d, 0x7e, 0x8c, 0x8d, 0xa7, // clients
    0x97, 0x9a, 0xb7, 0xba, 0xbf, // Alder and Raptor Lake
    0x55, 0x6a, 0x6c, // servers
];

/// Haswell and Broadwell, clients and servers (edk2 HaswellMsr.h, HaswellEMsr.h, XeonDMsr.h).
const LIMIT_REASONS_HASWELL: &[u32] = &[0x3c, 0x45, 0x46, 0x3d, 0x47, 0x3f, 0x4f, 0x56];

/// Intel's cores from Nehalem (2008) and Silvermont (2013) on.
fn nehalem_or_later(processor: &Processor<'_>) -> Result<(), Why> {
    /// Models of family 6 with higher numbers than Nehalem's: Dunnington, the last Core 2, and the Atoms
    /// before Silvermont.
    const EARLIER: &[u32] = &[0x1c, 0x1d, 0x26, 0x27, 0x35, 0x36];
    let (family, model) = (processor.cpuinfo.family, processor.cpuinfo.model);
    // Families 18 and 19 (Nova Lake, Diamond Rapids) follow 6; 15 is the Pentium 4.
    let is_later = (family == 6 && model >= 0x1a && !EARLIER.contains(&model)) || family >= 18;
    processor.model_if(is_later)
}

/// Power registers came with Sandy Bridge; Silvermont and later Atoms have them too.
fn sandy_bridge_or_later(processor: &Processor<'_>) -> Result<(), Why> {
    /// Nehalem and Westmere.
    const EARLIER: &[u32] = &[0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f];
    nehalem_or_later(processor)?;
    processor.model_if(!EARLIER.contains(&processor.cpuinfo.model))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Missing;
    use crate::cpu::cpuinfo::CpuInfo;

    fn has(register: &Register, model: u32, flags: &str) -> bool {
        let cpuinfo = CpuInfo {
            family: 6,
            model,
            flags: flags.split(' ').map(str::to_owned).collect(),
            ..CpuInfo::default()
        };
        let leaf6 = Err(Missing::not_collected("cpuid 0x6 0x0"));
        (register.exists)(&Processor { cpuinfo: &cpuinfo, leaf6: &leaf6 }).is_ok()
    }

    #[test]
    fn registers_are_listed_once_in_order_of_addresses() {
        assert!(REGISTERS.is_sorted_by(|a, b| a.address < b.address));
    }

    #[test]
    fn flags_decide_on_architectural_registers() {
        assert!(has(&CLOCK_MODULATION, 0x55, "acpi est"));
        assert!(!has(&CLOCK_MODULATION, 0x55, "est"));
        assert!(!has(&HWP_REQUEST, 0x3f, "acpi est"));
    }

    #[test]
    fn models_decide_on_the_others() {
        assert!(has(&SMI_COUNT, 0x1a, ""));
        assert!(!has(&SMI_COUNT, 0x17, ""));
        assert!(!has(&PKG_POWER_LIMIT, 0x2c, ""));
        assert!(has(&PERF_LIMIT_REASONS, 0x55, "") && !has(&PERF_LIMIT_REASONS, 0x8f, ""));
    }
}
