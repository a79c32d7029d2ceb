//! The sensors' own registers, where no driver of the kernel reads them.
//!
//! Source: drivers/thermal/intel/intel_tcc.c; Intel SDM vol. 3B, "Digital Thermal Sensors". The register tells how far
//! below its limit a core is, in whole degrees.

use super::super::msr_devices::ReadRegister;
use super::super::register_table::RegisterTable;
use crate::Source;
use facts::counters::{Family, Table};
use facts::cpu::topology::Topology;
use facts::msr::{Scope, intel, path, thermal_status};
use facts::{CpuSet, Fact, HostView, Missing, PerCpu};

/// The sensor of each core.
#[derive(Debug)]
pub(in super::super) struct Registers {
    topology: Topology,
    /// The register with the limit, of each package.
    targets: PerCpu<u64>,
    table: RegisterTable,
}

impl Registers {
    /// Finds the sensors.
    ///
    /// Errors: the processor has none, does not say what they count from, or does not let us read them.
    pub(in super::super) fn open(
        source: &dyn Source,
        host: &HostView,
        online: &CpuSet,
    ) -> Fact<Registers> {
        host.platform.hides(Family::Temperature.source())?;
        // CPUID.06H:EAX[0] is the flag that coretemp asks for (drivers/hwmon/coretemp.c).
        if !host.cpuinfo.as_ref()?.has("dtherm") {
            let because = "/proc/cpuinfo has no flag dtherm";
            return Err(Missing::not_here(Family::Temperature.source(), because));
        }
        let targets = host.msrs.of(&intel::TEMPERATURE_TARGET)?.clone();
        let columns = [("temperature", intel::THERM_STATUS.address)];
        let table = RegisterTable::open(source, host, Scope::Core, &columns, online)?;
        Ok(Registers { topology: host.topology.clone(), targets, table })
    }

    /// Reads every sensor, in thousandths of a degree Celsius.
    pub(in super::super) fn sample(
        &mut self,
        online: &CpuSet,
        read: &mut ReadRegister<'_>,
        into: &mut Fact<Table>,
    ) {
        let Registers { topology, targets, table } = self;
        let temperature = |cpu, status| {
            let leader = topology.package_leader(cpu);
            let target = || path(leader, intel::TEMPERATURE_TARGET.address);
            let limit = targets.get(leader).cloned();
            let limit = limit.unwrap_or_else(|| Err(Missing::absent(target())))?;
            let degrees = thermal_status::temperature(status, limit).ok_or_else(|| {
                let found = format!("{status:#x}, with {limit:#x} in {:#x}", 0x1a2);
                let register = path(cpu, intel::THERM_STATUS.address);
                Missing::malformed(register, &found, "a valid reading (bit 31) above 0 degrees")
            })?;
            Ok(degrees * 1000)
        };
        table.sample(online, read, into, &temperature);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::register_table::tests::{shown, xeons};
    use super::*;

    #[test]
    fn cores_count_down_from_the_limit_of_their_package() {
        let source = xeons(&[
            (0, 0x1a2, 0x0064_0000),
            (2, 0x1a2, 0x005a_0000),
            (0, 0x19c, 0x8845_0000),
            (1, 0x19c, 0x0845_0000),
            (2, 0x19c, 0x8801_0000),
            (3, 0x19c, 0x8800_0008),
        ]);
        let all = CpuSet::parse_list("0-4").unwrap();
        let mut registers = Registers::open(&source, &crate::view(&source), &all).unwrap();
        let mut table = Err(Missing::not_collected("test"));
        registers.sample(&all, &mut |cpu, address| source.msr(cpu, address), &mut table);
        assert_eq!(
            shown(&table),
            "temperature; 0: 31000; 2: 89000; 3: 90000; 1: /dev/cpu/1/msr 0x19c holds \"0x8450000, with 0x640000 in 0x1a2\", expected a valid reading (bit 31) above 0 degrees"
        );
    }
}
