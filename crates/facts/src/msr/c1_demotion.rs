//! Demotion to C1: MSR 0xE2, MSR_PKG_CST_CONFIG_CONTROL.
//!
//! Source: SDM vol. 4, the models' tables. The package limit in the same register is not about turbo: a package with a busy
//! core is awake, and its other cores sleep in C6 whatever the limit is.

use super::{Msrs, intel};
use crate::{CpuSet, Missing};

/// Cores whose requests for C6 the processor may turn into C1 and never back.
///
/// Bit 26 of MSR 0xE2 allows demotion to C1, bit 28 undoing it (intel/pepc, PCStateConfigCtl.py). With both, which is
/// the usual setting, the processor decides by how often a core wakes up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemotedToC1 {
    /// The CPUs whose register was read, one a core.
    pub cpus: CpuSet,
    /// The first one's register, verbatim.
    pub value: u64,
}

impl Msrs {
    /// Cores that may be demoted to C1 for good.
    pub fn demoted_to_c1(&self) -> Result<Option<DemotedToC1>, &Missing> {
        let values = self.of(&intel::PKG_CST_CONFIG_CONTROL)?;
        let is_one_way = |value: &u64| value >> 26 & 1 == 1 && value >> 28 & 1 == 0;
        let Some((_, &value)) = values.known().find(|(_, value)| is_one_way(value)) else {
            return values.all_known().map(|()| None);
        };
        Ok(Some(DemotedToC1 { cpus: values.cpus_where(is_one_way), value }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PerCpu;
    use crate::cpu::cpuinfo::CpuInfo;

    fn msrs(info: &CpuInfo, value: u64) -> Msrs {
        let read =
            |address, value| (address, Ok([(0, Ok(value))].into_iter().collect::<PerCpu<u64>>()));
        // The base ratio vouches for the zeros of the other register.
        let answers = [read(0xe2, value), read(0xce, 0x1800)].into_iter().collect();
        Msrs::new(info, answers, &Err(Missing::absent("cpuid")))
    }

    #[test]
    fn demotion_to_c1_is_for_good_only_where_it_is_never_undone() {
        let info =
            CpuInfo { vendor: "GenuineIntel".into(), family: 6, model: 0x6a, ..CpuInfo::default() };
        let demoted = |value| msrs(&info, value).demoted_to_c1().unwrap().is_some();
        assert!(demoted(0x0400_0402));
        assert!(!demoted(0x1400_0402) && !demoted(0x1000_0402));
    }
}
