//! Reads the cooling devices of CPUs and the counters of thermal throttling.

use crate::Source;
use facts::cpu::cooling::{CoolingDevice, Kind};
use facts::cpu::cpufreq::Policy;
use facts::cpu::cpuinfo::CpuInfo;
use facts::cpu::thermal_zone::{ThermalZone, is_in_use};
use facts::cpu::throttling::{OCC_REASONS, Occ, OccReason, Throttled, Throttling};
use facts::cpu::topology::Topology;
use facts::{CpuSet, Fact, HostView, Missing, PerCpu, Why, parse};
use std::time::Duration;

const FOLDER: &str = "/sys/class/thermal";

const MASKED: &str =
    "an empty folder is laid over it, as runtimes of containers do; run fullclock on the host";

pub(super) fn read_cooling(source: &dyn Source, host: &mut HostView) {
    host.cooling = cooling(source);
    let is_on = |it: &CoolingDevice| it.level().is_ok_and(|level| level > 0);
    host.thermal_zones = match &host.cooling {
        Ok(devices) if devices.iter().any(is_on) => zones(source),
        _ => Err(Missing::not_here("cooling by a thermal zone", "no cooling device is on")),
    };
}

fn cooling(source: &dyn Source) -> Fact<Vec<CoolingDevice>> {
    let numbers = source.numbered(FOLDER, "cooling_device")?;
    Ok(numbers.into_iter().filter_map(|number| device(source, number)).collect())
}

/// Zones with a passive trip point in use.
fn zones(source: &dyn Source) -> Fact<Vec<ThermalZone>> {
    let numbers = source.numbered(FOLDER, "thermal_zone")?;
    Ok(numbers.into_iter().filter_map(|number| zone(source, number)).collect())
}

fn zone(source: &dyn Source, number: u32) -> Option<ThermalZone> {
    /// THERMAL_MAX_TRIPS of include/linux/thermal.h had been 12.
    const MOST_TRIPS: u32 = 32;
    let folder = format!("{FOLDER}/thermal_zone{number}");
    let line = |file: &str| source.parsed(&format!("{folder}/{file}"), parse::line).ok();
    let mut passive = Vec::new();
    for trip in 0..MOST_TRIPS {
        let Some(kind) = line(&format!("trip_point_{trip}_type")) else { break };
        let path = format!("{folder}/trip_point_{trip}_temp");
        if kind == "passive"
            && let Ok(temperature) = source.parsed(&path, parse::signed)
            && is_in_use(temperature)
        {
            passive.push((trip, temperature));
        }
    }
    (!passive.is_empty()).then(|| ThermalZone {
        kind: line("type").unwrap_or_default(),
        temperature: source.parsed(&format!("{folder}/temp"), parse::signed),
        passive,
        folder: folder.clone(),
    })
}

/// Reads them only if a policy may not run at its highest clock: a large machine has a device for each CPU.
pub(super) fn read_cooling_of_limits(source: &dyn Source, host: &mut HostView) {
    let is_free = |it: &Policy| matches!((&it.scaling_max, &it.cpuinfo_max), (Ok(limit), Ok(highest)) if limit >= highest);
    // A caller that wanted all cooling devices has them.
    if host.cooling.as_ref().is_err_and(Missing::is_unasked) {
        match &host.cpufreq.policies {
            Ok(policies) if policies.iter().all(is_free) => {
                let none = "no policy is below its highest clock";
                host.cooling = Err(Missing::not_here("cooling of a clock", none));
                host.thermal_zones = Err(Missing::not_here("cooling of a clock", none));
            }
            _ => read_cooling(source, host),
        }
    }
}

fn device(source: &dyn Source, number: u32) -> Option<CoolingDevice> {
    let folder = format!("{FOLDER}/cooling_device{number}");
    let name = source.parsed(&format!("{folder}/type"), parse::line).ok()?;
    let kind = Kind::of_type(&name)?;
    let state = source.parsed(&format!("{folder}/cur_state"), parse::signed);
    let is_on = state.as_ref().is_ok_and(|&state| state > 0);
    let unasked = |file: &str| Missing::not_collected(format!("{folder}/{file}"));
    Some(CoolingDevice {
        max: if is_on {
            source.parsed(&format!("{folder}/max_state"), parse::number)
        } else {
            Err(unasked("max_state"))
        },
        cpu: match Kind::cpu_of_type(&name) {
            Some(cpu) => Ok(cpu),
            None if is_on && kind == Kind::Processor => cpu(source, &folder),
            None => Err(unasked("device")),
        },
        kind,
        state,
        folder,
    })
}

/// A `Processor` device leads to its ACPI object, and that to the CPU
/// (drivers/acpi/{processor_driver,glue}.c).
fn cpu(source: &dyn Source, folder: &str) -> Fact<u32> {
    let link = format!("{folder}/device/physical_node");
    let target = source.link(&link)?;
    let number = target.rsplit('/').next().and_then(|name| name.strip_prefix("cpu")?.parse().ok());
    number.ok_or_else(|| Missing::malformed(link, &target, "a link to a CPU"))
}

/// Reads the thermal throttling counters of each core and package.
pub(super) fn read_throttling(
    source: &dyn Source,
    cpuinfo: &Fact<CpuInfo>,
    topology: &Topology,
) -> Throttling {
    let of_core = |cpu| throttled(source, cpu, "core");
    let of_package = |cpu| throttled(source, cpu, "package");
    let over_temperature = |cpu| over_temperature(source, cpu);
    let (cores, packages) = (&topology.cores, &topology.packages);
    if cpuinfo.as_ref().is_ok_and(CpuInfo::is_power) {
        return Throttling {
            cores: PerCpu::default(),
            packages: counters(topology, packages, &over_temperature),
            occ: counters(topology, packages, &|cpu| occ(source, cpu)),
            core_power: PerCpu::default(),
            package_power: PerCpu::default(),
        };
    }
    // Newer kernels have these files only where somebody asked for them (`int_pln_enable`).
    let power =
        |groups, level| counters(topology, groups, &|cpu| power_limited(source, cpu, level));
    Throttling {
        cores: counters(topology, cores, &of_core),
        packages: counters(topology, packages, &of_package),
        occ: PerCpu::default(),
        core_power: power(cores, "core"),
        package_power: power(packages, "package"),
    }
}

fn counters<T>(
    topology: &Topology,
    groups: &Fact<Vec<CpuSet>>,
    read: &dyn Fn(u32) -> Fact<T>,
) -> PerCpu<T> {
    let cpus: CpuSet = match (groups, &topology.online) {
        (Ok(groups), _) => groups.iter().filter_map(CpuSet::first).collect(),
        (Err(_), Ok(online)) => online.clone(),
        (Err(_), Err(missing)) => return [(0, Err(missing.clone()))].into_iter().collect(),
    };
    let mut answers = Vec::with_capacity(cpus.len());
    for cpu in cpus.iter() {
        let answer = read(cpu);
        // The kernel makes the folder for every CPU or for none.
        let none_here =
            cpus.first() == Some(cpu) && answer.as_ref().err().is_some_and(Missing::is_absence);
        answers.push((cpu, answer));
        if none_here {
            break;
        }
    }
    answers.into_iter().collect()
}

fn occ_path(cpu: u32, file: &str) -> String {
    format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/throttle_stats/{file}")
}

/// The controller does not count how long.
fn over_temperature(source: &dyn Source, cpu: u32) -> Fact<Throttled> {
    let path = occ_path(cpu, "overtemp");
    let events = source.parsed(&path, parse::number)?;
    let total = match events {
        0 => Ok(Duration::ZERO),
        _ => Err(Missing::not_here("time of throttling", "the OCC counts events only")),
    };
    Ok(Throttled { path, events, total })
}

fn occ(source: &dyn Source, cpu: u32) -> Fact<Occ> {
    let number = |file: &str| source.parsed(&occ_path(cpu, file), parse::number);
    let reason = |(file, name): (&str, &'static str)| {
        number(file).map(|events| OccReason { path: occ_path(cpu, file), name, events })
    };
    Ok(Occ {
        reasons: OCC_REASONS.into_iter().map(reason).collect::<Fact<Vec<_>>>()?,
        n_raised: number("unthrottle"),
        n_within_turbo: number("turbo_stat"),
        n_below_nominal: number("sub_turbo_stat"),
        folder: occ_path(cpu, "").trim_end_matches('/').to_owned(),
    })
}

/// The kernel does not count how long.
fn power_limited(source: &dyn Source, cpu: u32, level: &str) -> Fact<Throttled> {
    let folder = folder_of_counters(cpu);
    let path = format!("{folder}/{level}_power_limit_count");
    let events = source.parsed(&path, parse::number).map_err(|it| masked(source, &folder, it))?;
    let total = Err(Missing::not_here("time at a power limit", "the kernel counts events only"));
    Ok(Throttled { path, events, total })
}

fn folder_of_counters(cpu: u32) -> String {
    format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle")
}

/// Why a counter is missing. The kernel makes the folder with counters in it or not at all (thermal_throttle_add_dev in therm_throt.c), and
/// runtimes of containers lay an empty one over it (`maskedPaths` of the OCI runtime specification; containerd and Docker list this folder).
fn masked(source: &dyn Source, folder: &str, missing: Missing) -> Missing {
    let is_empty = |folder: &str| source.list(folder).is_ok_and(|it| it.is_empty());
    match missing.why {
        Why::Absent if is_empty(folder) => {
            Missing { what: folder.to_owned(), why: Why::Failed(MASKED.to_owned()) }
        }
        _ => missing,
    }
}

/// The time is read only after throttling: most counters of most machines are 0.
fn throttled(source: &dyn Source, cpu: u32, level: &str) -> Fact<Throttled> {
    let folder = folder_of_counters(cpu);
    let path = format!("{folder}/{level}_throttle_count");
    let events = source.parsed(&path, parse::number).map_err(|it| masked(source, &folder, it))?;
    let total = match events {
        0 => Ok(Duration::ZERO),
        _ => source
            .parsed(&format!("{folder}/{level}_throttle_total_time_ms"), parse::number)
            .map(Duration::from_millis),
    };
    Ok(Throttled { path, events, total })
}

#[cfg(test)]
mod tests {
    use crate::{Captured, view_of};
    use facts::{Subject, Subjects};

    /// Whether cooling is looked at where a policy with this limit is asked about.
    fn is_read(limit: &str) -> bool {
        let policy = "/sys/devices/system/cpu/cpufreq/policy0";
        let device = "/sys/class/thermal/cooling_device0";
        let host = Captured::excerpt(&format!(
            "//- {policy}/affected_cpus\n0\n//- {policy}/cpuinfo_max_freq\n3000000\n\
             //- {policy}/scaling_max_freq\n{limit}\n\
             //- {device}/type\nProcessor\n//- {device}/cur_state\n1\n",
        ))
        .unwrap();
        view_of(&host, Subjects::of(&[Subject::CoolingOfLimits])).cooling.is_ok()
    }

    #[test]
    fn cooling_may_be_the_reason_of_a_limit_and_is_not_asked_for_where_there_is_none() {
        assert!(is_read("2999999"));
        assert!(!is_read("3000000"));
        assert!(is_read("!denied"));
    }

    #[test]
    fn an_empty_folder_over_the_counters_is_a_mask_and_no_absence() {
        let of = |folder: &str| {
            let cpu = "//- /sys/devices/system/cpu";
            let host = Captured::excerpt(&format!(
                "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\n{cpu}/online\n0\n\
                 {cpu}/cpu0/topology/core_cpus_list\n0\n{cpu}/cpu0/topology/package_cpus_list\n0\n{folder}"
            ))
            .unwrap();
            view_of(&host, Subjects::of(&[Subject::Throttling])).throttling
        };
        let masked = of("//- /sys/devices/system/cpu/cpu0/thermal_throttle/\n");
        for counters in [&masked.cores, &masked.packages, &masked.core_power, &masked.package_power]
        {
            let (_, missing) = counters.iter().next().unwrap();
            let missing = missing.as_ref().err().unwrap();
            assert!(
                !missing.is_absence() && missing.to_string().contains("empty folder"),
                "{missing}"
            );
        }
        let none = of("");
        assert!(
            none.cores.iter().all(|(_, it)| it.as_ref().is_err_and(facts::Missing::is_absence))
        );
        // Newer kernels have the folder and not every counter.
        let counts =
            of("//- /sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count\n0\n");
        assert!(
            counts
                .core_power
                .iter()
                .all(|(_, it)| it.as_ref().is_err_and(facts::Missing::is_absence))
        );
    }

    #[test]
    fn zones_are_read_while_something_cools_and_without_placeholders() {
        let (device, zone) =
            ("//- /sys/class/thermal/cooling_device0", "//- /sys/class/thermal/thermal_zone0");
        let read = |state: u32| {
            let text = format!(
                "{device}/type\nProcessor\n{device}/cur_state\n{state}\n{zone}/type\nacpitz\n{zone}/temp\n52000\n\
                 {zone}/trip_point_0_type\npassive\n{zone}/trip_point_0_temp\n-274000\n\
                 {zone}/trip_point_1_type\npassive\n{zone}/trip_point_1_temp\n90000\n"
            );
            let host = Captured::excerpt(&text).unwrap();
            view_of(&host, Subjects::of(&[Subject::Cooling])).thermal_zones
        };
        let zones = read(1).unwrap();
        assert_eq!((zones.len(), zones[0].passive.as_slice()), (1, [(1, 90_000)].as_slice()));
        assert!(read(0).is_err_and(|it| it.is_absence()));
    }
}
