//! Reads the CPU quotas that limit this process and the host's database servers.

use crate::Source;
use facts::system::cgroup::{Folders, LimitedGroup, Mounts, Quota, Throttling, Version};
use facts::system::database;
use facts::system::process::Process;
use facts::{Fact, IfPresent, Missing, Origin, parse};
use std::collections::BTreeMap;

/// Processes of databases, each in its group and the groups above: ten thousand connections make some hundred thousand.
const MOST_MEMBERS: usize = 1 << 18;

/// Every group with a quota that limits one of them, each read once.
pub(super) fn read(source: &dyn Source, processes: &Fact<Vec<Process>>) -> Fact<Vec<LimitedGroup>> {
    let mounts = source.parsed("/proc/self/mountinfo", Mounts::parse)?;
    let folders = |pid: &str| -> Fact<Folders> {
        source.parsed(&format!("/proc/{pid}/cgroup"), |text| mounts.folders(text))
    };
    let mut members: BTreeMap<(Version, String), Members> = BTreeMap::new();
    // In a copy of a host, this process is the one that made the copy.
    if source.origin() != Origin::Tree {
        for folder in folders("self")? {
            members.entry(folder).or_default().holds_us = true;
        }
    }
    let mut n_members = 0;
    for (process, product) in database::servers(processes.as_deref().unwrap_or_default()) {
        // A process that has ended since is no longer a fact.
        for folder in folders(&process.pid.to_string()).if_present()?.into_iter().flatten() {
            n_members += 1;
            if n_members > MOST_MEMBERS {
                return Err(Missing::too_many(
                    "/proc",
                    "processes of databases in groups",
                    MOST_MEMBERS,
                ));
            }
            let members = members.entry(folder.clone()).or_default();
            members.databases.push((process.clone(), product));
        }
    }
    let groups = members.into_iter().filter_map(|((version, folder), members)| {
        group(source, version, folder, members).transpose()
    });
    groups.collect()
}

#[derive(Default)]
struct Members {
    holds_us: bool,
    databases: Vec<(Process, &'static str)>,
}

/// The group, where it has a quota.
fn group(
    source: &dyn Source,
    version: Version,
    folder: String,
    members: Members,
) -> Fact<Option<LimitedGroup>> {
    let quota = match version {
        Version::V1 => quota_v1(source, &folder),
        Version::V2 => source.parsed(&format!("{folder}/cpu.max"), Quota::parse),
    };
    let Some(quota) = quota.if_present()?.copied().flatten() else { return Ok(None) };
    let statistics = |text: &str| Throttling::parse(text, version);
    let throttling = source.parsed(&format!("{folder}/cpu.stat"), statistics);
    let Members { holds_us, databases } = members;
    Ok(Some(LimitedGroup { folder, version, quota, throttling, holds_us, databases }))
}

/// `-1` is no quota.
fn quota_v1(source: &dyn Source, folder: &str) -> Fact<Option<Quota>> {
    let path = format!("{folder}/cpu.cfs_quota_us");
    let quota = source.parsed(&path, parse::signed)?;
    let Ok(quota) = u64::try_from(quota) else { return Ok(None) };
    let path = format!("{folder}/cpu.cfs_period_us");
    let period = source.parsed(&path, parse::number)?;
    if period == 0 {
        return Err(Missing::malformed(path, "0", "a period in microseconds"));
    }
    Ok(Some(Quota::of(quota, period)))
}
