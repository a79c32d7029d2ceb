//! One reader per subject: asks a source and hands the text to the parsers of `facts`.

mod cgroups;
mod clocksource;
mod cooling;
mod cpufreq;
mod cpuidle;
mod dmi;
mod energy_bias;
mod infiniband;
mod interrupts;
mod ipmi;
mod isolation;
mod kernel;
mod kernel_config;
mod msrs;
mod pcie;
mod platform;
mod power_limits;
mod processes;
mod pstate;
mod sysctl;
mod throttling;
mod topology;
mod tuners;
mod uncore;
mod vulnerabilities;

pub(crate) use kernel_config::text as kernel_config_text;
pub(crate) use processes::kernel_threads;
pub use processes::read as processes;

use crate::Source;
use facts::HostView;
use facts::cpu::cpuinfo::CpuInfo;

/// Asks `source` everything that any check may want to know.
pub fn view(source: &dyn Source) -> HostView {
    let cpuinfo = source.parsed("/proc/cpuinfo", CpuInfo::parse);
    let topology = topology::read(source, &cpuinfo);
    let dmi = dmi::read(source);
    let platform = platform::read(source, &cpuinfo, &dmi);
    let kernel = kernel::read(source, &platform);
    let interrupts = interrupts::read(source);
    let processes = processes::read(source);
    let msrs = msrs::read(source, &cpuinfo, &platform, &topology);
    HostView {
        origin: source.origin(),
        cpufreq: cpufreq::read(source, &topology),
        pstate: pstate::read(source),
        energy_bias: energy_bias::read(source, &cpuinfo, &topology, &msrs),
        msrs,
        tuners: tuners::read(source),
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
        power_limits: power_limits::read(source),
        uncore: uncore::read(source),
        vulnerabilities: vulnerabilities::read(source),
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
