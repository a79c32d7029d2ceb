//! Reads power limits of packages, uncore clocks, energy bias (EPB) and AMD's HSMP.

use crate::Source;
use facts::cpu::cpuinfo::CpuInfo;
use facts::cpu::energy_bias::EnergyBias;
use facts::cpu::topology::Topology;
use facts::msr::{Msrs, intel};
use facts::power::hsmp::{HsmpSocket, HsmpSockets};
use facts::power::limit::{PowerLimit, PowerLimits};
use facts::power::uncore::{UncoreDomain, UncoreDomains};
use facts::{Fact, Hertz, HostView, Microwatts, Missing, PerCpu, parse};

const POWERCAP: &str = "/sys/class/powercap";

/// Reads the power limits of packages from powercap.
///
/// The zones of whole packages: `intel-rapl:0`, and `intel-rapl-mmio:0` for the second copy of the limits in
/// mapped memory. Zones below them (`intel-rapl:0:1`) are of parts.
pub(super) fn read_limits(source: &dyn Source) -> PowerLimits {
    let mut limits = Vec::new();
    for interface in ["intel-rapl", "intel-rapl-mmio"] {
        for zone in source.numbered(POWERCAP, &format!("{interface}:"))? {
            let folder = format!("{POWERCAP}/{interface}:{zone}");
            let name = source.parsed(&format!("{folder}/name"), parse::line).unwrap_or_default();
            if name.starts_with("package") {
                limits.push(limit(source, folder, name));
            }
        }
    }
    if limits.is_empty() {
        return Err(Missing::absent(format!("{POWERCAP}/intel-rapl:0")));
    }
    Ok(limits)
}

fn limit(source: &dyn Source, folder: String, name: String) -> PowerLimit {
    let power = |file: &str| -> Fact<Microwatts> {
        source.parsed(&format!("{folder}/{file}"), parse::number).map(Microwatts)
    };
    PowerLimit {
        enabled: source.parsed(&format!("{folder}/enabled"), parse::switch),
        long_term: power("constraint_0_power_limit_uw"),
        short_term: power("constraint_1_power_limit_uw"),
        short_term_max: power("constraint_1_max_power_uw"),
        design: power("constraint_0_max_power_uw"),
        folder,
        name,
    }
}

const UNCORE: &str = "/sys/devices/system/cpu/intel_uncore_frequency";

/// Reads the limits of the uncore's clock.
///
/// `package_00_die_00` is a die; `uncore00` is a part of a die that has several clocks.
pub(super) fn read_uncore(source: &dyn Source) -> UncoreDomains {
    let names = source.list(UNCORE)?;
    let is_domain = |name: &&String| name.starts_with("package_") || name.starts_with("uncore");
    let domains: Vec<UncoreDomain> =
        names.iter().filter(is_domain).map(|name| domain(source, name)).collect();
    if domains.is_empty() {
        Err(Missing::absent(format!("{UNCORE}/package_00_die_00")))
    } else {
        Ok(domains)
    }
}

fn domain(source: &dyn Source, name: &str) -> UncoreDomain {
    let folder = format!("{UNCORE}/{name}");
    let clock = |file: &str| source.parsed(&format!("{folder}/{file}"), parse::kilohertz);
    UncoreDomain {
        min: clock("min_freq_khz"),
        max: clock("max_freq_khz"),
        initial_max: clock("initial_max_freq_khz"),
        light_load_floor: clock("elc_floor_freq_khz"),
        light_load_percent: source
            .parsed(&format!("{folder}/elc_low_threshold_percent"), parse::number),
        folder,
    }
}

/// Reads the energy bias (EPB) of every CPU.
///
/// From sysfs, or from the register on kernels before 5.2, which have no such file. Not read on processors
/// without the feature.
pub(super) fn read_energy_bias(
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

/// More than AMD's servers have (MAX_AMD_SOCKETS of drivers/platform/x86/amd/hsmp/hsmp.h is 8).
const MOST_SOCKETS: u32 = 8;

/// Reads what AMD's amd_hsmp driver shows of each socket.
///
/// Each socket is an ACPI device, and the first that does not exist ends the list. Nothing is read on processors of
/// other manufacturers.
pub(super) fn read_hsmp(source: &dyn Source, host: &HostView) -> HsmpSockets {
    let info = host.cpuinfo.as_ref()?;
    if !info.is_amd() {
        let because = format!("the processor is {}", info.vendor);
        return Err(Missing::not_here("HSMP", because));
    }
    host.platform.hides("HSMP")?;
    let mut sockets = Vec::new();
    for number in 0..MOST_SOCKETS {
        let folder = format!("/sys/devices/platform/AMDI0097:{number:02x}");
        let prochot = source.parsed(&format!("{folder}/prochot_status"), parse::switch);
        match prochot {
            Err(missing) if missing.is_absence() && sockets.is_empty() => return Err(missing),
            Err(missing) if missing.is_absence() => break,
            prochot => sockets.push(HsmpSocket {
                prochot,
                clock_limit: source
                    .parsed(&format!("{folder}/cclk_freq_limit_input"), parse::number)
                    .map(Hertz::from_mhz),
                limit_sources: source
                    .text(&format!("{folder}/pwr_current_active_freq_limit_source"))
                    .map(|text| HsmpSocket::sources(&text)),
                folder,
            }),
        }
    }
    Ok(sockets)
}

#[cfg(test)]
mod tests {
    use crate::{Captured, Recording, view};

    const EPYC: &str = "\
//- /proc/cpuinfo
processor : 0
vendor_id : AuthenticAMD
cpu family : 25
//- /sys/devices/platform/AMDI0097:00/prochot_status
0
//- /sys/devices/platform/AMDI0097:00/cclk_freq_limit_input
2450
//- /sys/devices/platform/AMDI0097:00/pwr_current_active_freq_limit_source
PPT Limit
//- /sys/devices/platform/AMDI0097:01/prochot_status
1
";

    #[test]
    fn every_socket_is_read_and_is_in_a_capture() {
        let host = Captured::excerpt(EPYC).unwrap();
        let recording = Recording::new(&host);
        let before = view(&recording).hsmp;
        let sockets = before.as_ref().unwrap();
        assert_eq!(sockets.len(), 2);
        assert_eq!(sockets[0].limit_sources, Ok(vec!["PPT Limit".to_owned()]));
        assert_eq!((&sockets[0].prochot, &sockets[1].prochot), (&Ok(false), &Ok(true)));
        let capture = recording.capture();
        assert_eq!(view(&Captured::parse(&capture).unwrap()).hsmp, before);
    }

    #[test]
    fn without_the_driver_and_on_other_processors_there_is_none_and_no_intel_processor_is_asked() {
        let without: String = EPYC.lines().take(4).map(|it| format!("{it}\n")).collect();
        let hsmp = |text: &str| view(&Captured::excerpt(text).unwrap()).hsmp.unwrap_err();
        assert!(hsmp(&without).is_absence());
        let intel = Captured::excerpt(&EPYC.replace("AuthenticAMD", "GenuineIntel")).unwrap();
        let recording = Recording::new(&intel);
        assert!(view(&recording).hsmp.unwrap_err().is_absence());
        assert!(!recording.capture().contains("AMDI0097"));
    }
}
