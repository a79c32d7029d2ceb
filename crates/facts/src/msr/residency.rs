//! Which processors count their time in C-states, and in which registers.
//!
//! Sources: arch/x86/events/intel/cstate.c (intel_cstates_match) and tools/power/x86/turbostat/turbostat.c
//! (turbostat_pdata, supported_cstates). The two disagree on some models: the kernel lists for Skylake-SP the C3
//! and C7 of a Sandy Bridge, which that processor does not have. A register that nobody counts in stands still and
//! looks like a state that was never entered, so only what both list is listed here. All count TSC cycles. On the
//! Atom cores of a hybrid processor C6 counts deeper states too (turbostat.c, get_counters).

use crate::cpu::cpuinfo::CpuInfo;

/// A state, and the register that counts the time in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// As the kernel's PMUs name it: `c6`.
    pub name: &'static str,
    /// The register.
    pub address: u32,
}

/// The states that a model counts.
#[derive(Debug, PartialEq, Eq)]
pub struct States {
    /// By core: the threads of a core share a register.
    pub core: &'static [State],
    /// By package.
    pub package: &'static [State],
}

impl States {
    /// The states of a processor; `None` where it counts none, or none that both sources know of.
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

/// MSR_KNL_CORE_C6_RESIDENCY: Knights Landing's C6 is elsewhere.
const KNIGHTS_C6: State = state("c6", 0x3ff);
/// Silvermont's package C6 is where others have C7 (SLM_PKG_C6_USE_C7_MSR).
const SILVERMONT_PC6: State = state("c6", 0x3fa);

const CLIENT: &[State] = &[PC2, PC3, PC6, PC7, PC8, PC9, PC10];

/// By model of family 6, whose numbers are those of arch/x86/include/asm/intel-family.h.
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
    // Silvermont; Avoton and Rangeley; Airmont, on whose package the sources disagree.
    (&[0x37], States { core: &[C1, C6], package: &[SILVERMONT_PC6] }),
    (&[0x4d], States { core: &[C6], package: &[SILVERMONT_PC6] }),
    (&[0x4c], States { core: &[C6], package: &[] }),
    // Goldmont and Goldmont Plus; Tremont; Snow Ridge; Grand Ridge.
    (&[0x5c, 0x7a], States { core: &[C3, C6], package: &[PC2, PC3, PC6, PC10] }),
    (&[0x96, 0x9c], States { core: &[C6], package: &[PC2, PC3, PC6, PC10] }),
    (&[0x86], States { core: &[C6], package: &[] }),
    (&[0xb6], States { core: &[C1, C6], package: &[] }),
];

#[cfg(test)]
mod tests {
    use super::*;

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
}
