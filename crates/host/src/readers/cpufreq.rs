//! Reads the cpufreq policies.

use crate::Source;
use facts::cpu::cpufreq::{Cpufreq, Policy};
use facts::cpu::topology::Topology;
use facts::{CpuSet, Fact, Missing, parse};

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn read(source: &dyn Source, topology: &Topology) -> Cpufreq {
    Cpufreq { policies: policies(source, topology) }
}

/// Every policy, from its own folder; on kernels before 4.3 from the CPUs' folders, one for each set of
/// CPUs that share one.
fn policies(source: &dyn Source, topology: &Topology) -> Fact<Vec<Policy>> {
    let folder = format!("{CPUS}/cpufreq");
    let numbers = source.numbered(&folder, "policy").unwrap_or_default();
    if !numbers.is_empty() {
        return Ok(numbers
            .iter()
            .map(|it| policy(source, format!("{folder}/policy{it}")))
            .collect());
    }
    let online = topology.online.as_ref()?;
    let mut found = Vec::new();
    let mut seen = CpuSet::default();
    let mut missing = None;
    for cpu in online.iter() {
        let folder = format!("{CPUS}/cpu{cpu}/cpufreq");
        match source.list(&folder) {
            Ok(names) if names.iter().any(|it| it.starts_with("scaling_")) => {
                if !seen.contains(cpu) {
                    let policy = policy(source, folder);
                    seen.extend(policy.cpus.iter());
                    found.push(policy);
                }
            }
            Ok(_) => missing = missing.or(Some(Missing::absent(folder))),
            Err(reason) => missing = missing.or(Some(reason)),
        }
    }
    match missing {
        Some(reason) if found.is_empty() => Err(reason),
        _ => Ok(found),
    }
}

fn policy(source: &dyn Source, folder: String) -> Policy {
    let line = |file: &str| source.parsed(&format!("{folder}/{file}"), parse::line);
    let clock = |file: &str| source.parsed(&format!("{folder}/{file}"), parse::kilohertz);
    Policy {
        cpus: cpus(source, &folder),
        driver: line("scaling_driver"),
        governor: line("scaling_governor"),
        scaling_min: clock("scaling_min_freq"),
        scaling_max: clock("scaling_max_freq"),
        scaling_cur: clock("scaling_cur_freq"),
        cpuinfo_min: clock("cpuinfo_min_freq"),
        cpuinfo_max: clock("cpuinfo_max_freq"),
        base_frequency: clock("base_frequency"),
        bios_limit: clock("bios_limit"),
        preference: line("energy_performance_preference"),
        boost: source.parsed(&format!("{folder}/boost"), parse::switch),
        folder,
    }
}

/// The CPUs of a policy: `affected_cpus`, a list with spaces; the number in the folder's name at the least.
fn cpus(source: &dyn Source, folder: &str) -> CpuSet {
    let listed = source.parsed(&format!("{folder}/affected_cpus"), |text| {
        CpuSet::parse_list(&parse::trimmed(text).split_whitespace().collect::<Vec<_>>().join(","))
    });
    listed.ok().filter(|cpus| !cpus.is_empty()).unwrap_or_else(|| {
        let name = folder.trim_end_matches("/cpufreq");
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits
            .rsplit(|c: char| !c.is_ascii_digit())
            .next()
            .and_then(|it| it.parse().ok())
            .into_iter()
            .collect()
    })
}
