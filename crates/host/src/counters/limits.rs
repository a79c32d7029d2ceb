//! What limited the clock, in the processor's own words: the logs of its limits, and its time below power limits.
//!
//! Sources: Intel SDM vol. 3B, "IA32_THERM_STATUS" and "RAPL Interfaces"; SDM vol. 4 for the limit reasons. A log bit
//! is set once and stays until somebody clears it: read at both ends of an interval, it tells what began within. Nothing
//! is cleared here; the kernel clears the log of bit 0 by itself (drivers/thermal/intel/therm_throt.c).

use super::Wanted;
use super::files::Files;
use super::register_table::RegisterTable;
use crate::Source;
use facts::counters::{Counters, Family};
use facts::msr::limit_reasons::Layout;
use facts::msr::rapl::Units;
use facts::msr::{Processor, Register, Scope, intel, path};
use facts::{CpuSet, Fact, HostView, Missing};

/// The registers of the three families.
#[derive(Debug)]
pub(super) struct Limits {
    core: Fact<RegisterTable>,
    package: Fact<RegisterTable>,
    power: Fact<(Units, RegisterTable)>,
}

impl Limits {
    /// Finds the registers of the families that are wanted.
    pub(super) fn open(
        source: &dyn Source,
        host: &HostView,
        wanted: &Wanted,
        online: &CpuSet,
    ) -> Limits {
        let of = |family: Family, scope| match wanted.has(family) {
            true => open(source, host, family, scope, online),
            false => Err(Missing::not_collected(family.source())),
        };
        let units = || {
            let cpu = online.first().unwrap_or(0);
            source.msr(cpu, intel::RAPL_POWER_UNIT.address).map(Units)
        };
        Limits {
            core: of(Family::CoreLimits, Scope::Core),
            package: of(Family::PackageLimits, Scope::Package),
            power: of(Family::PowerLimited, Scope::Package)
                .and_then(|registers| Ok((units()?, registers))),
        }
    }

    pub(super) fn sample(&mut self, files: &mut Files, online: &CpuSet, into: &mut Counters) {
        let mut read = |cpu, address| files.register(cpu, address);
        for (family, registers) in
            [(Family::CoreLimits, &mut self.core), (Family::PackageLimits, &mut self.package)]
        {
            let table = into.table_mut(family);
            match registers {
                Ok(registers) => registers.sample(online, &mut read, table, &|_, logs| Ok(logs)),
                Err(missing) => *table = Err(missing.clone()),
            }
        }
        let table = into.table_mut(Family::PowerLimited);
        match &mut self.power {
            Ok((units, registers)) => {
                // Bits 31:0 count.
                let time = |_, steps: u64| Ok(units.microseconds(steps as u32));
                registers.sample(online, &mut read, table, &time);
            }
            Err(missing) => *table = Err(missing.clone()),
        }
    }
}

fn open(
    source: &dyn Source,
    host: &HostView,
    family: Family,
    scope: Scope,
    online: &CpuSet,
) -> Fact<RegisterTable> {
    host.platform.hides(family.source())?;
    let info = host.cpuinfo.as_ref()?;
    if !info.is_intel() {
        let because = format!("the processor is {}", info.vendor);
        return Err(Missing::not_here(family.source(), because));
    }
    let processor = Processor { cpuinfo: info, leaf6: &source.cpuid(6, 0) };
    let mut columns = Vec::new();
    let mut reason = None;
    for (name, register) in registers(family, Layout::of(info).map(|it| it.register)) {
        match (register.exists)(&processor) {
            Ok(()) => columns.push((name, register.address)),
            Err(why) => reason = Some(Missing { what: register.to_string(), why }),
        }
    }
    match (columns.is_empty(), reason) {
        (true, Some(missing)) => Err(missing),
        (true, None) => Err(Missing::absent(path(0, 0))),
        (false, _) => RegisterTable::open(source, host, scope, &columns, online),
    }
}

/// The columns of a family, with `limit_reasons` where the model documents them.
fn registers(
    family: Family,
    limit_reasons: Option<&'static Register>,
) -> Vec<(&'static str, &'static Register)> {
    match family {
        Family::CoreLimits => vec![("therm_status", &intel::THERM_STATUS)],
        Family::PackageLimits => {
            let reasons = limit_reasons.map(|register| ("limit_reasons", register));
            [("therm_status", &intel::PACKAGE_THERM_STATUS)].into_iter().chain(reasons).collect()
        }
        _ => vec![("package", &intel::PKG_PERF_STATUS), ("dram", &intel::DRAM_PERF_STATUS)],
    }
}

#[cfg(test)]
mod tests {
    use super::super::register_table::tests::{XEONS, sampled, xeons};
    use super::*;
    use crate::Captured;

    fn read(source: &Captured, family: Family, scope: Scope) -> String {
        let all = CpuSet::parse_list("0-4").unwrap();
        sampled(open(source, &crate::view(source), family, scope, &all), source, "0-4")
    }

    #[test]
    fn logs_are_kept_as_they_are_read() {
        let registers: Vec<(u32, u32, u64)> = (0..4).map(|cpu| (cpu, 0x19c, 8)).collect();
        assert_eq!(
            read(&xeons(&registers), Family::CoreLimits, Scope::Core),
            "therm_status; 0: 8; 1: 8; 2: 8; 3: 8"
        );
        let registers = [(0, 0x1b1, 1), (2, 0x1b1, 2), (0, 0x64f, 3), (2, 0x64f, 4)];
        assert_eq!(
            read(&xeons(&registers), Family::PackageLimits, Scope::Package),
            "therm_status limit_reasons; 0: 1 3; 2: 2 4"
        );
    }

    #[test]
    fn a_client_has_no_time_below_its_power_limit() {
        let client = XEONS.replace("model : 85", "model : 158");
        assert_eq!(
            read(&Captured::excerpt(&client).unwrap(), Family::PowerLimited, Scope::Package),
            "no MSR 0x61b MSR_DRAM_PERF_STATUS here: family 0x6 model 0x9e has none"
        );
    }

    #[test]
    fn a_guest_has_its_hypervisors() {
        let guest = XEONS.replace("flags :", "flags : hypervisor");
        assert_eq!(
            read(&Captured::excerpt(&guest).unwrap(), Family::CoreLimits, Scope::Core),
            "log of what limited a core: not available in a guest of an unnamed hypervisor"
        );
    }
}
