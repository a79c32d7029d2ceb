//! One reader per subject: asks a source and hands the text to the parsers of `facts`.

mod cpufreq;
mod dmi;
mod ipmi;
mod kernel;
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
    let processes = processes::read(source);
    HostView {
        origin: source.origin(),
        kernel: kernel::read(source),
        platform: platform::read(source, &cpuinfo, &dmi),
        cpufreq: cpufreq::read(source, &topology),
        ipmi: ipmi::read(source, &processes),
        processes,
        dmi,
        cpuinfo,
        topology,
    }
}
