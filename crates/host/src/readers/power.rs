//! Reads power limits of packages, uncore clocks, energy bias (EPB), and the supply of a Raspberry Pi.

use crate::Source;
use facts::cpu::cpuinfo::CpuInfo;
use facts::cpu::energy_bias::EnergyBias;
use facts::cpu::topology::Topology;
use facts::msr::{Msrs, intel};
use facts::power::board::{BoardPower, FirmwareThrottling, SystemCap, VoltageAlarm};
use facts::power::limit::{PowerLimit, PowerLimits};
use facts::power::uncore::{UncoreDomain, UncoreDomains};
use facts::{Fact, Microwatts, Missing, PerCpu, parse};

const POWERCAP: &str = "/sys/class/powercap";

/// Reads the power limits of packages from powercap.
///
/// The zones of whole packages: `intel-rapl:0`, and `intel-rapl-mmio:0` for the second copy of the limits in
/// mapped memory. Zones below them (`intel-rapl:0:1`) are of parts.
pub(super) fn read_limits(source: &dyn Source) -> PowerLimits {
    let mut limits = Vec::new();
    let mut unnamed = None;
    for interface in ["intel-rapl", "intel-rapl-mmio"] {
        for zone in source.numbered(POWERCAP, &format!("{interface}:"))? {
            let folder = format!("{POWERCAP}/{interface}:{zone}");
            match source.parsed(&format!("{folder}/name"), parse::line) {
                Ok(name) if name.starts_with("package") => {
                    limits.push(limit(source, folder, name));
                }
                Ok(_) => {}
                Err(missing) => unnamed = unnamed.or(Some(missing)),
            }
        }
    }
    if limits.is_empty() {
        let first = || source.without_folder(&format!("{POWERCAP}/intel-rapl:0"));
        return Err(unnamed.unwrap_or_else(first));
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
        Err(source.without_folder(&format!("{UNCORE}/package_00_die_00")))
    } else {
        Ok(domains)
    }
}

fn domain(source: &dyn Source, name: &str) -> UncoreDomain {
    let folder = format!("{UNCORE}/{name}");
    let clock = |file: &str| source.parsed(&format!("{folder}/{file}"), parse::kilohertz);
    let number = |file: &str| source.parsed(&format!("{folder}/{file}"), parse::number);
    UncoreDomain {
        min: clock("min_freq_khz"),
        max: clock("max_freq_khz"),
        initial_max: clock("initial_max_freq_khz"),
        light_load_floor: clock("elc_floor_freq_khz"),
        light_load_percent: number("elc_low_threshold_percent"),
        high_load_percent: number("elc_high_threshold_percent"),
        high_load_counts: source
            .parsed(&format!("{folder}/elc_high_threshold_enable"), parse::switch),
        current: clock("current_freq_khz"),
        package: number("package_id"),
        domain: number("domain_id"),
        cluster: number("fabric_cluster_id"),
        die: number("die_id"),
        agents: source.parsed(&format!("{folder}/agent_types"), parse::words),
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

/// Reads what the firmware of a board says of its power. Nothing is read on processors that no such board has.
pub(super) fn read_board(source: &dyn Source, cpuinfo: &Fact<CpuInfo>) -> BoardPower {
    const WHAT: &str = "Raspberry Pi's firmware";
    let no_cap = |because: &str| Err(Missing::not_here("limit on power by OPAL", because));
    let others = |because: &str| BoardPower {
        throttled: Err(Missing::not_here(WHAT, because)),
        alarm: Err(Missing::not_here(WHAT, because)),
        cap: no_cap(because),
    };
    match cpuinfo {
        Err(missing) => BoardPower {
            throttled: Err(missing.clone()),
            alarm: Err(missing.clone()),
            cap: Err(missing.clone()),
        },
        Ok(info) if info.is_x86() => others("the processor is x86"),
        Ok(info) if info.is_power() => {
            BoardPower { cap: system_cap(source), ..others("the processor is IBM's") }
        }
        Ok(info) if info.vendor.starts_with("IBM") => others("the processor is IBM's"),
        Ok(_) => BoardPower {
            throttled: firmware_throttling(source),
            alarm: voltage_alarm(source),
            cap: no_cap("the processor is not POWER"),
        },
    }
}

/// Absent in a partition of PowerVM, which has no OPAL, and where the firmware describes no limit.
fn system_cap(source: &dyn Source) -> Fact<SystemCap> {
    let watts = |file: &str| source.parsed(&SystemCap::path_of(file), SystemCap::watts);
    match watts("powercap-current") {
        Err(missing) if missing.is_absence() => Err(missing),
        current => Ok(SystemCap { current, highest: watts("powercap-max") }),
    }
}

/// The node of the firmware is below that of the chip, whose name some boards follow by an address: `soc/soc:firmware`,
/// `soc@107c000000/soc@107c000000:firmware`.
fn firmware_throttling(source: &dyn Source) -> Fact<FirmwareThrottling> {
    const FOLDER: &str = "/sys/devices/platform";
    let chips = source.list(FOLDER)?;
    for chip in chips.iter().filter(|it| it.starts_with("soc")) {
        let path = format!("{FOLDER}/{chip}/{chip}:firmware/get_throttled");
        match source.parsed(&path, FirmwareThrottling::bits_of) {
            Err(missing) if missing.is_absence() => {}
            bits => return bits.map(|bits| FirmwareThrottling { path, bits }),
        }
    }
    Err(Missing::absent(format!("{FOLDER}/soc/soc:firmware/get_throttled")))
}

fn voltage_alarm(source: &dyn Source) -> Fact<VoltageAlarm> {
    const FOLDER: &str = "/sys/class/hwmon";
    for number in source.numbered(FOLDER, "hwmon")? {
        let folder = format!("{FOLDER}/hwmon{number}");
        if source.parsed(&format!("{folder}/name"), parse::line).as_deref() == Ok("rpi_volt") {
            let path = format!("{folder}/in0_lcrit_alarm");
            let is_raised = source.parsed(&path, parse::switch);
            return is_raised.map(|is_raised| VoltageAlarm { path, is_raised });
        }
    }
    Err(Missing::not_here("sensor rpi_volt", "no hwmon device has this name"))
}

#[cfg(test)]
mod tests {
    use crate::{Captured, Recording, view};

    #[test]
    fn a_cluster_of_the_uncore_says_where_it_is_and_when_it_may_be_slow() {
        // Sierra Forest, intel/pepc srf2; its kernel has no die_id for a package of one die.
        let files = [
            ("agent_types", "core cache memory"),
            ("current_freq_khz", "1200000"),
            ("domain_id", "0"),
            ("elc_floor_freq_khz", "1200000"),
            ("elc_high_threshold_enable", "1"),
            ("elc_high_threshold_percent", "95"),
            ("elc_low_threshold_percent", "11"),
            ("fabric_cluster_id", "0"),
            ("package_id", "1"),
        ];
        let folder = "/sys/devices/system/cpu/intel_uncore_frequency/uncore03";
        let text: String =
            files.iter().map(|(file, value)| format!("//- {folder}/{file}\n{value}\n")).collect();
        let uncore = |text: &str| view(&Captured::excerpt(text).unwrap()).uncore.unwrap().remove(0);
        let seen = uncore(&text);
        assert_eq!(seen.agents, Ok(["core", "cache", "memory"].map(str::to_owned).to_vec()));
        assert_eq!((seen.package, seen.domain, seen.cluster), (Ok(1), Ok(0), Ok(0)));
        assert!(seen.die.is_err_and(|it| it.is_absence()));
        assert_eq!((seen.high_load_percent, seen.high_load_counts), (Ok(95), Ok(true)));
        let user = uncore(&text.replace("current_freq_khz\n1200000", "current_freq_khz\n!denied"));
        assert!(
            user.current.is_err_and(|it| !it.is_absence()) && user.light_load_percent == Ok(11)
        );
    }

    #[test]
    fn the_supply_of_a_raspberry_pi_is_read_whatever_its_chip_is_called() {
        let arm = "//- /proc/cpuinfo\nprocessor : 0\nCPU part : 0xd0b\n";
        let board = |text: &str| view(&Captured::excerpt(text).unwrap()).board_power;
        for chip in ["soc", "soc@107c000000"] {
            let file = format!("/sys/devices/platform/{chip}/{chip}:firmware/get_throttled");
            let seen = board(&format!("{arm}//- {file}\n50005\n")).throttled.unwrap();
            assert_eq!((seen.bits, seen.path), (0x5_0005, file));
        }
        let sensor = "//- /sys/class/hwmon/hwmon0/name\ncpu_thermal\n\
                      //- /sys/class/hwmon/hwmon1/name\nrpi_volt\n\
                      //- /sys/class/hwmon/hwmon1/in0_lcrit_alarm\n1\n";
        let seen = board(&format!("{arm}{sensor}"));
        assert!(seen.alarm.unwrap().is_raised && seen.throttled.unwrap_err().is_absence());
        let intel = Captured::excerpt(&format!("{INTEL}{sensor}")).unwrap();
        let recording = Recording::new(&intel);
        assert!(view(&recording).board_power.alarm.unwrap_err().is_absence());
        assert!(!recording.capture().contains("lcrit"));
    }

    const INTEL: &str = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\n";
}
