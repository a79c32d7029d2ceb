//! One reader per subject: asks a source and hands the text to the parsers of `facts`.

mod cpufreq;
mod cpuidle;
mod dmi;
mod infiniband;
mod ipmi;
mod kernel;
mod msrs;
mod pcie;
mod platform;
mod processes;
mod topology;

use crate::Source;
use facts::HostView;
use facts::cpu::cpuinfo::CpuInfo;

/// Asks `source` everything that any check may want to know.
pub fn view(source: &dyn Source) -> HostView {
    let cpuinfo = source.parsed("/proc/cpuinfo", CpuInfo::parse);
    let topology = topology::read(source, &cpuinfo);
    let dmi = dmi::read(source);
    let platform = platform::read(source, &cpuinfo, &dmi);
    let processes = processes::read(source);
    HostView {
        origin: source.origin(),
        kernel: kernel::read(source),
        cpufreq: cpufreq::read(source, &topology),
        msrs: msrs::read(source, &cpuinfo, &platform, &topology),
        ipmi: ipmi::read(source, &processes),
        cpuidle: cpuidle::read(source, &topology, &processes),
        infiniband: infiniband::read(source),
        pcie: pcie::read(source),
        processes,
        platform,
        dmi,
        cpuinfo,
        topology,
    }
}
