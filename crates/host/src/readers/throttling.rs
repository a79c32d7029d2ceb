//! Reads the kernel's counters of thermal throttling, once for each core and package.

use crate::Source;
use facts::cpu::cpuinfo::CpuInfo;
use facts::cpu::throttling::{OCC_REASONS, OccReason, Throttled, Throttling};
use facts::cpu::topology::Topology;
use facts::{CpuSet, Fact, Missing, PerCpu, parse};
use std::time::Duration;

pub(super) fn read(
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
            occ: counters(topology, packages, &|cpu| occ_reasons(source, cpu)),
        };
    }
    Throttling {
        cores: counters(topology, cores, &of_core),
        packages: counters(topology, packages, &of_package),
        occ: PerCpu::default(),
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

fn occ_reasons(source: &dyn Source, cpu: u32) -> Fact<Vec<OccReason>> {
    let reason = |(file, name): (&str, &'static str)| {
        let path = occ_path(cpu, file);
        source.parsed(&path, parse::number).map(|events| OccReason { path, name, events })
    };
    OCC_REASONS.into_iter().map(reason).collect()
}

/// The time is read only where there is any: most counters of most machines are 0.
fn throttled(source: &dyn Source, cpu: u32, level: &str) -> Fact<Throttled> {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle");
    let path = format!("{folder}/{level}_throttle_count");
    let events = source.parsed(&path, parse::number)?;
    let total = match events {
        0 => Ok(Duration::ZERO),
        _ => source
            .parsed(&format!("{folder}/{level}_throttle_total_time_ms"), parse::number)
            .map(Duration::from_millis),
    };
    Ok(Throttled { path, events, total })
}
