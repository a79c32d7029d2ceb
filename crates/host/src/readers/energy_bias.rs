//! Reads the energy bias (EPB) of every CPU.

use crate::Source;
use facts::cpu::cpuinfo::CpuInfo;
use facts::cpu::energy_bias::EnergyBias;
use facts::cpu::topology::Topology;
use facts::msr::{Msrs, intel};
use facts::{Fact, Missing, PerCpu, parse};

/// From sysfs, or from the register where the kernel (before 5.2) has no such file. Processors without the
/// feature are not asked.
pub(super) fn read(
    source: &dyn Source,
    cpuinfo: &Fact<CpuInfo>,
    topology: &Topology,
    msrs: &Msrs,
) -> Fact<EnergyBias> {
    if !cpuinfo.as_ref()?.has("epb") {
        return Err(Missing::not_here("energy_perf_bias", "/proc/cpuinfo has no flag epb"));
    }
    let path = |cpu| format!("/sys/devices/system/cpu/cpu{cpu}/power/energy_perf_bias");
    let value = |cpu| (cpu, source.parsed(&path(cpu), parse::number));
    let online = topology.online.as_ref()?;
    let first = online.first().map(|cpu| value(cpu).1);
    if let Some(Err(missing)) = first
        && missing.is_absence()
    {
        let register = msrs.of(&intel::ENERGY_PERF_BIAS)?.iter();
        let bias =
            |(cpu, fact): (u32, &Fact<u64>)| (cpu, fact.clone().map(EnergyBias::of_register));
        return Ok(EnergyBias { values: register.map(bias).collect(), is_from_sysfs: false });
    }
    let values: PerCpu<u64> = online.iter().map(value).collect();
    Ok(EnergyBias { values, is_from_sysfs: true })
}
