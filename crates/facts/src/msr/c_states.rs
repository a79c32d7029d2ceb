//! C-states: the registers that count the time in them, and cores that are demoted to C1.
//!
//! Sources: arch/x86/events/intel/cstate.c (intel_cstates_match) and tools/power/x86/turbostat/turbostat.c
//! (turbostat_pdata, supported_cstates). The two disagree on some models: for Skylake-SP the kernel lists C3 and
//! C7, as on Sandy Bridge, which that processor does not have. A register that does not exist stands still and
//! looks like a state that was never entered, so only what both sources list is listed here. All count TSC cycles.
//! On the Atom cores of a hybrid processor C6 includes deeper states (turbostat.c, get_counters).
//!
//! Demotion: MSR_PKG_CST_CONFIG_CONTROL (0xE2), SDM vol. 4, the tables of the models. The package limit in the same
//! register does not affect turbo: a package with a busy core is awake, and its other cores enter C6 whatever the
//! limit is.

use super::{Msrs, intel};
use crate::cpu::cpuinfo::CpuInfo;
use crate::{CpuSet, Missing};

/// A C-state, and the register that counts the time in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Its name in the kernel's PMUs: `c6`.
    pub name: &'static str,
    /// The register.
    pub address: u32,
}

/// The C-states that a model counts.
#[derive(Debug, PartialEq, Eq)]
pub struct States {
    /// Per core: the threads of a core share a register.
    pub core: &'static [State],
    /// Per package.
    pub package: &'static [State],
}

impl States {
    /// The C-states of a processor; `None` where it counts none, or none that both sources list.
    pub fn of(cpuinfo: &CpuInfo) -> Option<&'static States> {
        if !cpuinfo.is_intel() || cpuinfo.family != 6 {
            return None;
        }
        MODELS.iter().find(|(models, _)| models.contains(&cpuinfo.model)).map(|(_, states)| states)
    }
}

const fn state(name: &'static str, address: u32) -> State {
    State { name, address }
}

// arch/x86/include/asm/msr-index.h: MSR_CORE_C1_RES, MSR_CORE_C3_RESIDENCY and the like.
const C1: State = state("c1", 0x660);
const C3: State = state("c3", 0x3fc);
const C6: State = state("c6", 0x3fd);
const C7: State = state("c7", 0x3fe);
const PC2: State = state("c2", 0x60d);
const PC3: State = state("c3", 0x3f8);
const PC6: State = state("c6", 0x3f9);
const PC7: State = state("c7", 0x3fa);
const PC8: State = state("c8", 0x630);
const PC9: State = state("c9", 0x631);
const PC10: State = state("c10", 0x632);

/// MSR_KNL_CORE_C6_RESIDENCY: Knights Landing has C6 in another register.
const KNIGHTS_C6: State = state("c6", 0x3ff);
/// Silvermont has the package's C6 in the register that is C7 on others (SLM_PKG_C6_USE_C7_MSR).
const SILVERMONT_PC6: State = state("c6", 0x3fa);

const CLIENT: &[State] = &[PC2, PC3, PC6, PC7, PC8, PC9, PC10];

/// By model of family 6 (arch/x86/include/asm/intel-family.h).
static MODELS: &[(&[u32], States)] = &[
    // Nehalem and Westmere.
    (&[0x1a, 0x1e, 0x2e, 0x25, 0x2c, 0x2f], States { core: &[C3, C6], package: &[PC3, PC6] }),
    // Sandy Bridge, Ivy Bridge, Haswell, Broadwell and Skylake clients; servers up to Haswell-EP.
    (
        &[0x2a, 0x2d, 0x3a, 0x3e, 0x3c, 0x3f, 0x46, 0x3d, 0x47, 0x4e, 0x5e],
        States { core: &[C3, C6, C7], package: &[PC2, PC3, PC6, PC7] },
    ),
    // Broadwell-EP and -D.
    (&[0x4f, 0x56], States { core: &[C3, C6], package: &[PC2, PC3, PC6] }),
    // Haswell ULT, Kaby Lake, Comet Lake.
    (&[0x45, 0x8e, 0x9e, 0xa5, 0xa6], States { core: &[C3, C6, C7], package: CLIENT }),
    // Skylake-SP, Cascade Lake, Cooper Lake.
    (&[0x55], States { core: &[C6], package: &[PC2, PC6] }),
    // Ice Lake-SP and -D, Sapphire Rapids, Emerald Rapids, Granite Rapids; Sierra Forest, Clearwater Forest;
    // Denverton.
    (
        &[0x6a, 0x6c, 0x8f, 0xcf, 0xad, 0xae, 0xaf, 0xdd, 0x5f],
        States { core: &[C1, C6], package: &[PC2, PC6] },
    ),
    // Cannon Lake.
    (&[0x66], States { core: &[C1, C6, C7], package: CLIENT }),
    // Ice Lake clients, Tiger Lake, Rocket Lake.
    (&[0x7e, 0x8c, 0x8d, 0xa7], States { core: &[C6, C7], package: CLIENT }),
    // Alder Lake and its efficient cores alone, Raptor Lake, Meteor Lake, Arrow Lake.
    (
        &[0x97, 0x9a, 0xbe, 0xb7, 0xba, 0xbf, 0xaa, 0xac, 0xc5, 0xc6, 0xb5],
        States { core: &[C1, C6, C7], package: &[PC2, PC3, PC6, PC8, PC10] },
    ),
    // Lunar Lake, Panther Lake.
    (&[0xbd, 0xcc], States { core: &[C1, C6, C7], package: &[PC2, PC6, PC10] }),
    // Knights Landing and Mill.
    (&[0x57, 0x85], States { core: &[KNIGHTS_C6], package: &[PC3, PC6] }),
    // Silvermont; Avoton and Rangeley; Airmont, for whose package the sources disagree.
    (&[0x37], States { core: &[C1, C6], package: &[SILVERMONT_PC6] }),
    (&[0x4d], States { core: &[C6], package: &[SILVERMONT_PC6] }),
    (&[0x4c], States { core: &[C6], package: &[] }),
    // Goldmont and Goldmont Plus; Tremont; Snow Ridge; Grand Ridge.
    (&[0x5c, 0x7a], States { core: &[C3, C6], package: &[PC2, PC3, PC6, PC10] }),
    (&[0x96, 0x9c], States { core: &[C6], package: &[PC2, PC3, PC6, PC10] }),
    (&[0x86], States { core: &[C6], package: &[] }),
    (&[0xb6], States { core: &[C1, C6], package: &[] }),
];

/// Cores whose requests for C6 the processor may demote to C1 for good. Bit 26 of MSR 0xE2 allows demotion to C1, bit
/// 28 allows undemotion (intel/pepc, PCStateConfigCtl.py). Both are usually set: the processor then decides by how
/// often a core wakes up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemotedToC1 {
    /// The CPUs whose register was read, one per core.
    pub cpus: CpuSet,
    /// The register of the first one, as read.
    pub value: u64,
}

impl Msrs {
    /// Cores that may be demoted to C1 without undemotion.
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

    fn shown(vendor: &str, model: u32) -> String {
        let info = CpuInfo { vendor: vendor.into(), family: 6, model, ..CpuInfo::default() };
        let names = |states: &[State]| {
            states.iter().map(|it| format!("{} {:#x}", it.name, it.address)).collect::<Vec<_>>()
        };
        States::of(&info).map_or("none".to_owned(), |states| {
            format!("{}; {}", names(states.core).join(", "), names(states.package).join(", "))
        })
    }

    #[test]
    fn a_skylake_server_counts_no_state_of_a_sandy_bridge() {
        assert_eq!(shown("GenuineIntel", 0x55), "c6 0x3fd; c2 0x60d, c6 0x3f9");
        assert_eq!(
            shown("GenuineIntel", 0x2d),
            "c3 0x3fc, c6 0x3fd, c7 0x3fe; c2 0x60d, c3 0x3f8, c6 0x3f9, c7 0x3fa"
        );
    }

    #[test]
    fn registers_that_are_elsewhere_are_read_there() {
        assert_eq!(shown("GenuineIntel", 0x57), "c6 0x3ff; c3 0x3f8, c6 0x3f9");
        assert_eq!(shown("GenuineIntel", 0x37), "c1 0x660, c6 0x3fd; c6 0x3fa");
    }

    #[test]
    fn others_count_none() {
        assert_eq!(shown("GenuineIntel", 0x17), "none");
        assert_eq!(shown("AuthenticAMD", 0x55), "none");
    }

    #[test]
    fn no_model_is_listed_twice() {
        let mut models: Vec<u32> = MODELS.iter().flat_map(|(models, _)| *models).copied().collect();
        models.sort_unstable();
        let n_listed = models.len();
        models.dedup();
        assert_eq!(models.len(), n_listed);
    }

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
