//! What there is to know of a register before it is read.

use crate::cpu::cpuinfo::CpuInfo;
use crate::{Fact, Why};
use std::fmt;

/// One register that is worth reading, and how to tell whether a processor has it.
#[derive(Debug)]
pub struct Register {
    /// Its number.
    pub address: u32,
    /// Its name in the manufacturer's manual.
    pub name: &'static str,
    /// Which CPUs share it.
    pub scope: Scope,
    /// `Ok` where the processor has it, or by whose word it has not.
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
    /// CPUID leaf 6, for the features that /proc/cpuinfo has no flag for.
    pub leaf6: &'a Fact<[u32; 4]>,
}

impl Register {
    /// How messages and evidence name the register of one CPU.
    pub fn path(&self, cpu: u32) -> String {
        path(cpu, self.address)
    }
}

/// How messages, captures and evidence name a register of one CPU.
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
    /// Present where /proc/cpuinfo shows `flag`.
    pub(super) fn flag(&self, flag: &str) -> Result<(), Why> {
        present_if(self.cpuinfo.has(flag), || format!("/proc/cpuinfo has no flag {flag}"))
    }

    /// Present where a bit of CPUID leaf 6's EAX is set; unknown where the leaf is.
    pub(super) fn leaf6_eax(&self, bit: u32) -> Result<(), Why> {
        let [eax, ..] = self.leaf6.as_ref().map_err(|missing| missing.why.clone())?;
        present_if(eax >> bit & 1 == 1, || format!("CPUID.06H:EAX[{bit}] is 0"))
    }

    /// Present on the models of family 6 that `models` lists.
    pub(super) fn model_of(&self, models: &[u32]) -> Result<(), Why> {
        self.model_if(self.cpuinfo.family == 6 && models.contains(&self.cpuinfo.model))
    }

    /// Present on families from `family` on.
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
