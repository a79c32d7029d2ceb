//! A processor that firmware runs at another level of power than its base level.
//!
//! Two mechanisms: configurable TDP (MSRs 0x649 to 0x64B, SDM vol. 4), and Speed Select performance profiles (SST-PP) on servers
//! since Cascade Lake, which only a mailbox tells (`intel-speed-select`); what shows of the latter is that the clock which HWP
//! guarantees is not the base clock.

use super::{Msrs, hwp, intel, rapl, ratios};
use crate::Microwatts;

/// A configurable TDP level other than the base level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TdpLevel {
    /// 1 or 2.
    pub level: u64,
    /// The design power at this level.
    pub power: Microwatts,
    /// Paths and values of the registers that say so.
    pub evidence: [(String, u64); 2],
}

impl Msrs {
    /// The configurable TDP level of the package of `leader`; `None` at the base level, and where the registers do not tell.
    pub fn tdp_level(&self, leader: u32) -> Option<TdpLevel> {
        let control = self.value(&intel::CONFIG_TDP_CONTROL, leader).ok()?;
        let level = rapl::tdp_level(control);
        let register = match level {
            1 => &intel::CONFIG_TDP_LEVEL_1,
            2 => &intel::CONFIG_TDP_LEVEL_2,
            _ => return None,
        };
        let value = self.value(register, leader).ok()?;
        let units = rapl::Units(self.value(&intel::RAPL_POWER_UNIT, leader).ok()?);
        let power = units.design_power(value);
        let evidence =
            [(intel::CONFIG_TDP_CONTROL.path(leader), control), (register.path(leader), value)];
        (power.0 > 0).then_some(TdpLevel { level, power, evidence })
    }

    /// The registers of the clock that HWP guarantees on the first CPU of a package and of the package's base clock, where these differ: as at
    /// another level of SST-PP, and also under a power limit (SDM vol. 3B: the guaranteed level may change at run time).
    pub fn guaranteed_beside_base(&self, leader: u32) -> Option<[(String, u64); 2]> {
        let capabilities = self.value(&intel::HWP_CAPABILITIES, leader).ok()?;
        let platform = self.value(&intel::PLATFORM_INFO, leader).ok()?;
        (hwp::Capabilities(capabilities).guaranteed() != ratios::base(platform)).then(|| {
            [
                (intel::HWP_CAPABILITIES.path(leader), capabilities),
                (intel::PLATFORM_INFO.path(leader), platform),
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::cpuinfo::CpuInfo;
    use crate::{Missing, PerCpu};

    fn msrs(values: &[(u32, u64)]) -> Msrs {
        let info = CpuInfo {
            vendor: "GenuineIntel".into(),
            family: 6,
            model: 0x55,
            flags: ["hwp".into()].into(),
            ..CpuInfo::default()
        };
        let read = |(address, value): (u32, u64)| {
            (address, Ok([(0, Ok(value))].into_iter().collect::<PerCpu<u64>>()))
        };
        // The base ratio vouches for the zeros of other registers.
        let answers = [(0xce, 0x1800)].into_iter().chain(values.iter().copied()).map(read);
        Msrs::new(&info, answers.collect(), &Err(Missing::absent("cpuid")))
    }

    #[test]
    fn a_lower_level_has_a_design_power_of_its_own() {
        let level = |control| {
            let values =
                [(0x606, 0xa0e03), (0x649, 0x12_03e8), (0x64a, 0x10_0320), (0x64b, control)];
            msrs(&values).tdp_level(0).map(|it| (it.level, it.power.0 / 1_000_000))
        };
        assert_eq!(level(0x8000_0001), Some((1, 125)));
        assert_eq!(level(2), Some((2, 100)));
        assert_eq!(level(0x8000_0000), None);
        assert_eq!(msrs(&[(0x64b, 1)]).tdp_level(0), None);
    }

    #[test]
    fn a_guaranteed_clock_beside_the_base_clock_is_told() {
        let of = |capabilities| msrs(&[(0x771, capabilities)]).guaranteed_beside_base(0);
        let registers = of(0x0108_1627).expect("the two differ");
        assert_eq!(registers[0], ("/dev/cpu/0/msr 0x771".to_owned(), 0x0108_1627));
        assert_eq!(registers[1].1, 0x1800);
        assert_eq!(of(0x0108_1827), None);
    }
}
