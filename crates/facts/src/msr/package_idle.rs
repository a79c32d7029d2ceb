//! How deep a whole package may sleep: MSR 0xE2, MSR_PKG_CST_CONFIG_CONTROL.
//!
//! Source: SDM vol. 4, the models' tables; tools/power/x86/turbostat has the codes of every model. The limit is
//! about the package; its cores may go deeper.

use super::{Msrs, intel};
use crate::cpu::cpuinfo::CpuInfo;
use crate::{CpuSet, Missing};

/// Models of family 6 on which code 0 means "no limit": Airmont, Goldmont and Tremont.
const UNLIMITED_AT_ZERO: &[u32] = &[0x4c, 0x5a, 0x5c, 0x5f, 0x7a, 0x86, 0x96, 0x9c];

/// A package limit of C0/C1: no package C-state at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPackageIdle {
    /// The CPUs whose register was read, one a core.
    pub cpus: CpuSet,
    /// The first one's register, verbatim.
    pub value: u64,
    /// Whether firmware has locked the register until reset (bit 15).
    pub is_locked: bool,
}

impl Msrs {
    /// The limit (bits 3:0), where it leaves the package no C-state.
    pub fn no_package_idle(&self, info: &CpuInfo) -> Result<Option<NoPackageIdle>, &Missing> {
        let values = self.of(&intel::PKG_CST_CONFIG_CONTROL)?;
        let is_zero = |value: &u64| value & 0xf == 0;
        let is_limit = info.family == 6 && !UNLIMITED_AT_ZERO.contains(&info.model);
        let limited = || values.known().find(|(_, value)| is_limit && is_zero(value));
        let Some((_, &value)) = limited() else {
            return values.all_known().map(|()| None);
        };
        let cpus = values.cpus_where(is_zero);
        Ok(Some(NoPackageIdle { cpus, value, is_locked: value >> 15 & 1 == 1 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PerCpu;

    fn limit(model: u32, value: u64) -> Option<bool> {
        let info =
            CpuInfo { vendor: "GenuineIntel".into(), family: 6, model, ..CpuInfo::default() };
        let read =
            |address, value| (address, Ok([(0, Ok(value))].into_iter().collect::<PerCpu<u64>>()));
        // The base ratio vouches for the zeros of the other register.
        let answers = [read(0xe2, value), read(0xce, 0x1800)].into_iter().collect();
        let msrs = Msrs::new(&info, answers, &Err(Missing::absent("cpuid")));
        msrs.no_package_idle(&info).unwrap().map(|it| it.is_locked)
    }

    #[test]
    fn code_0_is_no_package_state_on_a_xeon_and_no_limit_on_a_goldmont() {
        assert_eq!(limit(0x4f, 0x8400), Some(true));
        assert_eq!(limit(0x4f, 0x0400), Some(false));
        assert_eq!(limit(0x4f, 0x8403), None);
        assert_eq!(limit(0x5f, 0x8400), None);
    }
}
