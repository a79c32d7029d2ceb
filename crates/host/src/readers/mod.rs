//! One reader per subject: asks a source and hands the text to the parsers of `facts`.

mod cgroups;
mod clocksource;
mod cooling;
mod cpufreq;
mod cpuidle;
mod dmi;
mod infiniband;
mod interrupts;
mod ipmi;
mod isolation;
mod kernel;
mod kernel_config;
mod msrs;
mod pcie;
mod platform;
mod processes;
mod pstate;
mod sysctl;
mod throttling;
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
    let kernel = kernel::read(source);
    let interrupts = interrupts::read(source);
    let processes = processes::read(source);
    HostView {
        origin: source.origin(),
        cpufreq: cpufreq::read(source, &topology),
        pstate: pstate::read(source),
        msrs: msrs::read(source, &cpuinfo, &platform, &topology),
        throttling: throttling::read(source, &topology),
        cooling: cooling::read(source),
        ipmi: ipmi::read(source, &processes),
        cpuidle: cpuidle::read(source, &topology, &processes),
        clocksource: clocksource::read(source),
        limited_groups: cgroups::read(source, &processes),
        infiniband: infiniband::read(source),
        pcie: pcie::read(source),
        isolation: isolation::read(source, &kernel.boot_line, &topology, &interrupts, &processes),
        cpu_times: interrupts::cpu_times(source),
        sysctls: sysctl::read(source),
        kernel,
        interrupts,
        processes,
        platform,
        dmi,
        cpuinfo,
        topology,
    }
}
