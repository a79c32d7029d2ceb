//! Reads the model-specific registers that the processors have.
//!
//! A register that CPUs share is read on the lowest of them: every read interrupts the CPU it is about.

use crate::Source;
use facts::cpu::cpuinfo::CpuInfo;
use facts::cpu::topology::Topology;
use facts::msr::{Msrs, Processor, Register, Scope, amd, intel};
use facts::system::platform::Platform;
use facts::{CpuSet, Fact, Missing, PerCpu, Why};
use std::collections::BTreeMap;

pub(super) fn read(
    source: &dyn Source,
    cpuinfo: &Fact<CpuInfo>,
    platform: &Platform,
    topology: &Topology,
) -> Msrs {
    match registers(cpuinfo, platform) {
        Ok((cpuinfo, registers)) => {
            let leaf6 = source.cpuid(6, 0);
            let processor = Processor { cpuinfo, leaf6: &leaf6 };
            match answers(source, &processor, registers, topology) {
                Ok(answers) => Msrs::new(cpuinfo, answers, &leaf6),
                Err(missing) => Msrs::none(missing),
            }
        }
        Err(missing) => Msrs::none(missing),
    }
}

/// The list of the processor's manufacturer, or why there is none to ask for.
fn registers<'a>(
    cpuinfo: &'a Fact<CpuInfo>,
    platform: &Platform,
) -> Fact<(&'a CpuInfo, &'static [&'static Register])> {
    const WHAT: &str = "MSRs";
    let cpuinfo = cpuinfo.as_ref()?;
    platform.hides(WHAT)?;
    match cpuinfo {
        _ if cpuinfo.is_intel() => Ok((cpuinfo, intel::REGISTERS)),
        _ if cpuinfo.is_amd() => Ok((cpuinfo, amd::REGISTERS)),
        _ => Err(Missing::not_here("x86 MSRs", "the processor is neither Intel's nor AMD's")),
    }
}

fn answers(
    source: &dyn Source,
    processor: &Processor<'_>,
    registers: &[&'static Register],
    topology: &Topology,
) -> Fact<BTreeMap<u32, Fact<PerCpu<u64>>>> {
    let online = topology.online.as_ref()?;
    let lowest = |groups: &Fact<Vec<CpuSet>>| match groups {
        Ok(groups) => groups.iter().filter_map(CpuSet::first).collect(),
        Err(_) => online.clone(),
    };
    let (cores, packages) = (lowest(&topology.cores), lowest(&topology.packages));
    let (here, not_here): (Vec<_>, Vec<_>) =
        registers.iter().map(|it| (*it, (it.exists)(processor))).partition(|(_, it)| it.is_ok());
    let is_asked = |register: &Register, cpu| match register.scope {
        Scope::Thread => true,
        Scope::Core => cores.contains(cpu),
        Scope::Package => packages.contains(cpu),
    };
    let mut values: BTreeMap<u32, Vec<(u32, Fact<u64>)>> = BTreeMap::new();
    let mut device = Device::default();
    for cpu in online.iter() {
        for (register, _) in here.iter().filter(|(it, _)| is_asked(it, cpu)) {
            let value = device.read(source, cpu, register);
            values.entry(register.address).or_default().push((cpu, value));
        }
    }
    let missing = |(register, why): (&Register, Result<(), Why>)| {
        Some((register.address, Err(Missing { what: register.to_string(), why: why.err()? })))
    };
    let mut answers: BTreeMap<_, _> = not_here.into_iter().filter_map(missing).collect();
    answers.extend(values.into_iter().map(|(address, values)| (address, gathered(values))));
    Ok(answers)
}

/// One reason for the whole register where no CPU answered.
fn gathered(values: Vec<(u32, Fact<u64>)>) -> Fact<PerCpu<u64>> {
    let values: PerCpu<u64> = values.into_iter().collect();
    match values.missing() {
        Some(missing) if values.known().next().is_none() => Err(missing.clone()),
        _ => Ok(values),
    }
}

/// The msr devices, with what their refusals say about questions not yet asked.
#[derive(Default)]
struct Device {
    refusal: Option<(u32, Why)>,
}

impl Device {
    /// Who may not read one register may read none, on no CPU (CAP_SYS_RAWIO); a device that does not
    /// exist has no register of its CPU (arch/x86/kernel/msr.c).
    fn read(&mut self, source: &dyn Source, cpu: u32, register: &Register) -> Fact<u64> {
        match &self.refusal {
            Some((of, why)) if *of == cpu || *why == Why::Denied => {
                Err(Missing { what: register.path(cpu), why: why.clone() })
            }
            _ => source.msr(cpu, register.address).inspect_err(|missing| {
                if matches!(missing.why, Why::Denied | Why::Absent) {
                    self.refusal = Some((cpu, missing.why.clone()));
                }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;

    const XEON: &str = "\
//- /proc/cpuinfo
processor : 0
vendor_id : GenuineIntel
cpu family : 6
model : 85
flags : acpi est
//- /sys/devices/system/cpu/online
0-3
//- /sys/devices/system/cpu/cpu0/topology/core_cpus_list
0,2
//- /sys/devices/system/cpu/cpu1/topology/core_cpus_list
1,3
//- /sys/devices/system/cpu/cpu0/topology/package_cpus_list
0-3
";

    fn shown(registers: &str, register: &Register) -> String {
        let host = crate::view(&Captured::excerpt(&format!("{XEON}{registers}")).unwrap());
        match host.msrs.of(register) {
            Ok(values) => {
                let one = |(cpu, fact): (u32, &Fact<u64>)| match fact {
                    Ok(value) => format!("{cpu}: {value:#x}"),
                    Err(missing) => format!("{cpu}: {missing}"),
                };
                values.iter().map(one).collect::<Vec<_>>().join(", ")
            }
            Err(missing) => missing.to_string(),
        }
    }

    #[test]
    fn a_shared_register_is_read_on_the_lowest_cpu_that_shares_it() {
        let registers = "\
//- /dev/cpu/0/msr 0xce
0xa0080001800
//- /dev/cpu/0/msr 0x19c
0x88450000
//- /dev/cpu/1/msr 0x19c
0x88460000
";
        assert_eq!(shown(registers, &intel::PLATFORM_INFO), "0: 0xa0080001800");
        assert_eq!(shown(registers, &intel::THERM_STATUS), "0: 0x88450000, 1: 0x88460000");
    }

    #[test]
    fn a_processor_without_the_feature_is_not_asked() {
        assert_eq!(
            shown("", &intel::HWP_REQUEST),
            "no MSR 0x774 IA32_HWP_REQUEST here: /proc/cpuinfo has no flag hwp"
        );
    }

    #[test]
    fn without_the_msr_module_the_registers_are_unknown_and_not_absent() {
        let host = crate::view(&Captured::excerpt(XEON).unwrap());
        let missing = host.msrs.of(&intel::CLOCK_MODULATION).unwrap_err();
        assert!(!missing.is_absence());
        assert_eq!(missing.to_string(), "/dev/cpu/0/msr 0x19a does not exist");
        assert_eq!(missing.remedy(), Some("modprobe msr"));
    }

    #[test]
    fn a_guest_sees_none() {
        let guest = XEON.replace("acpi est", "acpi est hypervisor");
        let host = crate::view(&Captured::excerpt(&guest).unwrap());
        assert_eq!(
            host.msrs.of(&intel::CLOCK_MODULATION).unwrap_err().to_string(),
            "MSRs: not available in a guest of an unnamed hypervisor"
        );
    }
}
