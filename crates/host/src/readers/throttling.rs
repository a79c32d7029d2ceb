//! Reads the kernel's counters of thermal throttling, once for each core and package.

use crate::Source;
use facts::cpu::throttling::{Throttled, Throttling};
use facts::cpu::topology::Topology;
use facts::{CpuSet, Fact, Missing, PerCpu, parse};
use std::time::Duration;

pub(super) fn read(source: &dyn Source, topology: &Topology) -> Throttling {
    Throttling {
        cores: counters(source, topology, &topology.cores, "core"),
        packages: counters(source, topology, &topology.packages, "package"),
    }
}

fn counters(
    source: &dyn Source,
    topology: &Topology,
    groups: &Fact<Vec<CpuSet>>,
    level: &str,
) -> PerCpu<Throttled> {
    let cpus: CpuSet = match (groups, &topology.online) {
        (Ok(groups), _) => groups.iter().filter_map(CpuSet::first).collect(),
        (Err(_), Ok(online)) => online.clone(),
        (Err(_), Err(missing)) => return [(0, Err(missing.clone()))].into_iter().collect(),
    };
    let mut answers = Vec::with_capacity(cpus.len());
    for cpu in cpus.iter() {
        let answer = throttled(source, cpu, level);
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
