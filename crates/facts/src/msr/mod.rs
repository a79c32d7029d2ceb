//! Model-specific registers: what the processor itself reports about its clock.
//!
//! Addresses and bit fields are those of the Intel SDM, vol. 4 (the tables) and vol. 3B "Power and Thermal
//! Management" (the meaning), and of AMD PPRs. Values are kept as they were read, so that evidence is verbatim; the
//! submodules decode them. Nothing here is ever written.

pub mod amd;
pub mod c_states;
pub mod clock_modulation;
pub mod hwp;
pub mod intel;
pub mod limit_reasons;
pub mod rapl;
pub mod ratios;
pub mod tdp_level;

// Former names of these modules, which are still in use.
pub use c_states as residency;
pub use limit_reasons as thermal_status;
pub use rapl as energy;

use crate::cpu::cpuinfo::CpuInfo;
use crate::{Fact, Missing, PerCpu, Why};
use std::collections::BTreeMap;
use std::fmt;

/// The registers of a host's processors, as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Msrs {
    answers: BTreeMap<u32, Fact<PerCpu<u64>>>,
    /// Why registers that are not in `answers` are unknown.
    otherwise: Missing,
    /// Whether the duty cycle in [`intel::CLOCK_MODULATION`] counts sixteenths instead of eighths
    /// (CPUID.06H:EAX[5], ECMD).
    pub extended_duty: Fact<bool>,
}

/// Fields that are never 0 on a real processor, by register. Emulators answer 0 for registers that they do not have
/// (QEMU, and Bochs with `ignore_bad_msrs`), and 0 in most registers would mean "nothing wrong".
const NEVER_ZERO: &[(&Register, u64)] = &[
    // Bits 15:8: the base ratio.
    (&intel::PLATFORM_INFO, 0xff00),
    // Bits 23:16: the temperature at which the processor throttles itself.
    (&intel::TEMPERATURE_TARGET, 0x00ff_0000),
    // Bits 7:0: the highest performance level.
    (&intel::HWP_CAPABILITIES, 0xff),
    // Bit 63: P-state 0 is defined.
    (&amd::PSTATE_0, 1 << 63),
];

impl Msrs {
    /// No registers, for one reason: a guest, another architecture, no /proc/cpuinfo.
    pub fn none(reason: Missing) -> Msrs {
        Msrs { answers: BTreeMap::new(), extended_duty: Err(reason.clone()), otherwise: reason }
    }

    /// Keeps the values that can be trusted.
    pub fn new(
        cpuinfo: &CpuInfo,
        answers: BTreeMap<u32, Fact<PerCpu<u64>>>,
        leaf6: &Fact<[u32; 4]>,
    ) -> Msrs {
        let because = format!("the processor is {}", cpuinfo.vendor);
        let mut msrs = Msrs {
            answers,
            otherwise: Missing::not_here("register of this kind", because),
            extended_duty: leaf6.as_ref().map(|leaf| leaf[0] >> 5 & 1 == 1).map_err(Missing::from),
        };
        if let Err(reason) = msrs.vouched_for() {
            msrs.distrust_zeros(&reason);
        }
        msrs.leave_out_disabled_hwp();
        msrs
    }

    /// The values of a register by CPU: of every online CPU, or of the lowest one of each core or package.
    pub fn of(&self, register: &Register) -> Result<&PerCpu<u64>, &Missing> {
        match self.answers.get(&register.address) {
            Some(fact) => fact.as_ref(),
            None => Err(&self.otherwise),
        }
    }

    /// The value of a register on one CPU; an error says why there is no such register, or no value on that CPU.
    pub fn value(&self, register: &Register, cpu: u32) -> Fact<u64> {
        match self.of(register)?.get(cpu) {
            Some(fact) => Ok(*fact.as_ref()?),
            None => Err(Missing::not_collected(register.path(cpu))),
        }
    }

    /// Whether a field that is never 0 on a real processor is not 0 here. An error says why there are no registers,
    /// or which register is 0.
    pub fn vouched_for(&self) -> Fact<()> {
        if self.answers.is_empty() {
            return Err(self.otherwise.clone());
        }
        let mut doubt = None;
        for &(register, mask) in NEVER_ZERO {
            match self.of(register) {
                Ok(values) if values.known().any(|(_, value)| value & mask != 0) => return Ok(()),
                Ok(_) => {
                    let found = format!("0x0, as does {:#x}, which cannot be 0", register.address);
                    doubt = Some(Missing::malformed(
                        register.name,
                        &found,
                        "the registers of a real processor",
                    ));
                }
                Err(missing) if !missing.is_absence() => {
                    doubt = doubt.or_else(|| Some(missing.clone()));
                }
                Err(_) => {}
            }
        }
        Err(doubt.unwrap_or_else(|| {
            Missing::malformed("a register", "0x0", "a register that vouches for a 0")
        }))
    }

    fn distrust_zeros(&mut self, reason: &Missing) {
        for (&address, answer) in &mut self.answers {
            let Ok(values) = answer else { continue };
            let distrusted = |cpu: u32, fact: &Fact<u64>| match (fact, &reason.why) {
                (Ok(0), Why::Malformed { .. }) => {
                    Err(Missing { what: path(cpu, address), why: reason.why.clone() })
                }
                (Ok(0), _) => Err(reason.clone()),
                _ => fact.clone(),
            };
            *values = values.iter().map(|(cpu, fact)| (cpu, distrusted(cpu, fact))).collect();
        }
    }

    /// 0x771, 0x774, 0x775 and 0x777 fault, or are meaningless, until HWP is enabled (SDM vol. 3B, "Enabling HWP").
    fn leave_out_disabled_hwp(&mut self) {
        let Ok(enable) = self.of(&intel::PM_ENABLE) else { return };
        if enable.is_empty()
            || enable.all_known().is_err()
            || enable.known().any(|(_, v)| v & 1 == 1)
        {
            return;
        }
        for register in [
            &intel::HWP_CAPABILITIES,
            &intel::HWP_REQUEST,
            &intel::HWP_PECI_REQUEST,
            &intel::HWP_STATUS,
        ] {
            let off = Missing::not_here(register.to_string(), "MSR 0x770 bit 0 is 0: HWP is off");
            self.answers.insert(register.address, Err(off));
        }
    }
}

/// A register, and how to find out whether a processor has it.
#[derive(Debug)]
pub struct Register {
    /// The address of the register.
    pub address: u32,
    /// Its name in the manufacturer's manual.
    pub name: &'static str,
    /// Which CPUs share it.
    pub scope: Scope,
    /// `Ok` where the processor has it; otherwise why it does not.
    pub exists: fn(&Processor<'_>) -> Result<(), Why>,
}

/// Which CPUs share one copy of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Each hardware thread has its own.
    Thread,
    /// The threads of a core share one.
    Core,
    /// All CPUs of a package share one.
    Package,
}

/// What decides which registers a processor has.
#[derive(Debug)]
pub struct Processor<'a> {
    /// Model and flags.
    pub cpuinfo: &'a CpuInfo,
    /// CPUID leaf 6, for features without a flag in /proc/cpuinfo.
    pub leaf6: &'a Fact<[u32; 4]>,
}

impl Register {
    /// The name of one CPU's register in messages and evidence.
    pub fn path(&self, cpu: u32) -> String {
        path(cpu, self.address)
    }
}

/// The name of one CPU's register in messages, captures and evidence.
pub fn path(cpu: u32, address: u32) -> String {
    format!("/dev/cpu/{cpu}/msr {address:#x}")
}

/// "MSR 0x19a IA32_CLOCK_MODULATION".
impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MSR {:#x} {}", self.address, self.name)
    }
}

impl Processor<'_> {
    /// Present if /proc/cpuinfo has `flag`.
    pub(super) fn flag(&self, flag: &str) -> Result<(), Why> {
        present_if(self.cpuinfo.has(flag), || format!("/proc/cpuinfo has no flag {flag}"))
    }

    /// Present if a bit of EAX of CPUID leaf 6 is set; unknown if the leaf is.
    pub(super) fn leaf6_eax(&self, bit: u32) -> Result<(), Why> {
        let [eax, ..] = self.leaf6.as_ref().map_err(|missing| missing.why.clone())?;
        present_if(eax >> bit & 1 == 1, || format!("CPUID.06H:EAX[{bit}] is 0"))
    }

    /// Present on the listed models of family 6.
    pub(super) fn model_of(&self, models: &[u32]) -> Result<(), Why> {
        self.model_if(self.cpuinfo.family == 6 && models.contains(&self.cpuinfo.model))
    }

    /// Present on this family and later ones.
    pub(super) fn family_from(&self, family: u32) -> Result<(), Why> {
        self.model_if(self.cpuinfo.family >= family)
    }

    /// Present if this model is one that `has` it.
    pub(super) fn model_if(&self, has: bool) -> Result<(), Why> {
        let info = self.cpuinfo;
        present_if(has, || format!("family {:#x} model {:#x} has none", info.family, info.model))
    }
}

fn present_if(condition: bool, because: impl Fn() -> String) -> Result<(), Why> {
    if condition { Ok(()) } else { Err(Why::NotHere(because())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intel(registers: &[(&Register, Fact<u64>)]) -> Msrs {
        let values =
            |fact: &Fact<u64>| fact.clone().map(|value| [(0, Ok(value))].into_iter().collect());
        let answers = registers.iter().map(|(it, fact)| (it.address, values(fact))).collect();
        let info = CpuInfo { vendor: "GenuineIntel".into(), ..CpuInfo::default() };
        Msrs::new(&info, answers, &Err(Missing::not_collected("cpuid 0x6 0x0")))
    }

    fn shown(msrs: &Msrs, register: &Register) -> String {
        match msrs.of(register).map(|it| it.get(0).unwrap().clone()) {
            Ok(Ok(value)) => format!("{value:#x}"),
            Ok(Err(missing)) => missing.to_string(),
            Err(missing) => missing.to_string(),
        }
    }

    #[test]
    fn a_zero_counts_where_a_register_that_cannot_be_zero_vouches_for_it() {
        let msrs =
            intel(&[(&intel::CLOCK_MODULATION, Ok(0)), (&intel::PLATFORM_INFO, Ok(0x81_1800))]);
        assert_eq!(shown(&msrs, &intel::CLOCK_MODULATION), "0x0");
    }

    #[test]
    fn an_emulator_that_answers_zero_for_everything_is_not_believed() {
        let msrs = intel(&[
            (&intel::CLOCK_MODULATION, Ok(0)),
            (&intel::THERM_STATUS, Ok(0x8845_0000)),
            (&intel::PLATFORM_INFO, Ok(0)),
        ]);
        assert_eq!(
            shown(&msrs, &intel::CLOCK_MODULATION),
            "/dev/cpu/0/msr 0x19a: found \"0x0, as does 0xce, which cannot be 0\", expected the registers of a real processor"
        );
        assert_eq!(shown(&msrs, &intel::THERM_STATUS), "0x88450000");
    }

    #[test]
    fn a_zero_without_a_witness_is_as_unknown_as_the_witness() {
        let witness = Err(Missing::not_collected("/dev/cpu/0/msr 0xce"));
        let msrs = intel(&[(&intel::CLOCK_MODULATION, Ok(0)), (&intel::PLATFORM_INFO, witness)]);
        assert_eq!(
            shown(&msrs, &intel::CLOCK_MODULATION),
            "/dev/cpu/0/msr 0xce is not in this copy of the host"
        );
    }

    #[test]
    fn what_hwp_registers_hold_while_hwp_is_off_is_left_out() {
        let msrs = intel(&[
            (&intel::PLATFORM_INFO, Ok(0x81_1800)),
            (&intel::PM_ENABLE, Ok(0)),
            (&intel::HWP_REQUEST, Ok(0xff00)),
        ]);
        assert_eq!(
            shown(&msrs, &intel::HWP_REQUEST),
            "no MSR 0x774 IA32_HWP_REQUEST here: MSR 0x770 bit 0 is 0: HWP is off"
        );
    }

    #[test]
    fn a_register_of_another_vendor_is_not_here() {
        assert_eq!(
            shown(&intel(&[]), &amd::HWCR),
            "no register of this kind here: the processor is GenuineIntel"
        );
    }
}
