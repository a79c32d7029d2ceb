//! Reads the processes and kernel threads, and the control groups that limit databases and this program.
//!
//! Who may see which process is a matter of /proc's mount option `hidepid`, and which there are to be seen of
//! the PID namespace (Documentation/filesystems/proc.rst, pid_namespaces(7)).

use crate::Source;
use facts::system::cgroup::{Folders, LimitedGroup, Mounts, Quota, Throttling, Version};
use facts::system::database;
use facts::system::process::{INIT, Process};
use facts::{Fact, IfPresent, Missing, Origin, Why, parse};
use std::collections::BTreeMap;
use std::time::Duration;

/// All processes and kernel threads.
///
/// A process that ends during the reading is left out. A copy of a host that was made without /proc/PID has no
/// processes.
pub fn read(source: &dyn Source) -> Fact<Vec<Process>> {
    let pids = source.numbered("/proc", "")?;
    if !pids.contains(&INIT) && hides_processes(source) {
        return Err(Missing::denied(format!("/proc/{INIT}/stat")));
    }
    let mut processes = Vec::with_capacity(pids.len());
    for pid in pids {
        match source.parsed(&format!("/proc/{pid}/stat"), Process::parse) {
            Ok(process) => processes.push(process),
            Err(missing) if missing.why == Why::Denied => return Err(missing),
            Err(_) => {}
        }
    }
    if processes.is_empty() {
        let first = source.parsed(&format!("/proc/{INIT}/stat"), Process::parse);
        let why = first.err().map_or(Why::NotCollected, |it| it.why);
        return Err(Missing { what: "/proc/PID/stat".to_owned(), why });
    }
    Ok(processes)
}

/// Whether /proc shows users no processes but their own.
fn hides_processes(source: &dyn Source) -> bool {
    let is_hiding = |line: &str| {
        let options = line.split_once(" - proc ").map(|(_, options)| options);
        options.is_some_and(|it| it.contains("hidepid=") && !it.contains("hidepid=off"))
    };
    source.text("/proc/self/mountinfo").is_ok_and(|text| text.lines().any(is_hiding))
}

/// Processes of databases, each in its group and the groups above: ten thousand connections make some hundred thousand.
const MOST_MEMBERS: usize = 1 << 18;

/// Reads the CPU quotas of all groups that limit this process or a database server of the host.
pub(super) fn read_limited_groups(
    source: &dyn Source,
    processes: &Fact<Vec<Process>>,
) -> Fact<Vec<LimitedGroup>> {
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
    let (mut n_members, mut missing) = (0, None);
    for (process, product) in database::servers(processes.as_deref().unwrap_or_default()) {
        // A process that has ended since is no longer a fact.
        let folders = folders(&process.pid.to_string());
        missing = missing.or_else(|| folders.if_present().err().cloned());
        for folder in folders.iter().flatten() {
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
    let mut groups = Vec::new();
    for ((version, folder), members) in members {
        match group(source, version, folder, members) {
            Ok(group) => groups.extend(group),
            Err(reason) => missing = missing.or(Some(reason)),
        }
    }
    // What is not known of one group hides no other.
    missing.filter(|_| groups.is_empty()).map_or(Ok(groups), Err)
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
    let quota = quota_of(source, version, &folder);
    let Some(quota) = quota.if_present()?.copied().flatten() else { return Ok(None) };
    let statistics = |text: &str| Throttling::parse(text, version);
    let throttling = source.parsed(&format!("{folder}/cpu.stat"), statistics);
    let Members { holds_us, databases } = members;
    let burst = burst_of(source, version, &folder);
    Ok(Some(LimitedGroup { folder, version, quota, burst, throttling, holds_us, databases }))
}

/// The CPU quota of the group with that folder; `None` where it has none.
pub fn quota_of(source: &dyn Source, version: Version, folder: &str) -> Fact<Option<Quota>> {
    match version {
        Version::V1 => quota_v1(source, folder),
        Version::V2 => source.parsed(&format!("{folder}/cpu.max"), Quota::parse),
    }
}

/// What the group with that folder may save up (Documentation/scheduler/sched-bwc.rst, "Burst feature"), in microseconds.
pub(super) fn burst_of(source: &dyn Source, version: Version, folder: &str) -> Fact<Duration> {
    let file = match version {
        Version::V1 => "cpu.cfs_burst_us",
        Version::V2 => "cpu.max.burst",
    };
    source.parsed(&format!("{folder}/{file}"), parse::number).map(Duration::from_micros)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;
    use facts::system::process::kernel_threads;

    const OURS: &str = "//- /proc/90/stat\n90 (bash) S 1 90 90 0 -1 4194560 0\n";

    fn shown(excerpt: &str) -> String {
        let host = Captured::excerpt(excerpt).unwrap();
        let processes = read(&host);
        let threads = kernel_threads(&processes).map(|it| it.len());
        let processes = processes.as_ref().map(Vec::len);
        format!("{processes:?}, {:?}", threads.map_err(|it| it.to_string()))
    }

    #[test]
    fn processes_that_may_not_be_seen_are_unknown_and_not_gone() {
        let denied = Err::<(), _>(Missing::denied("/proc/1/stat"));
        let expected =
            format!("{:?}, {:?}", denied.as_ref(), Err::<(), _>("/proc/1/stat may not be read"));
        assert_eq!(shown(&format!("//- /proc/1/stat\n!denied\n{OURS}")), expected);
        let mount =
            "//- /proc/self/mountinfo\n22 27 0:21 / /proc rw - proc proc rw,hidepid=invisible\n";
        assert_eq!(shown(&format!("{mount}{OURS}")), expected);
        let mount = mount.replace(",hidepid=invisible", "");
        assert_eq!(shown(&format!("{mount}{OURS}")), "Ok(1), Ok(0)");
    }

    #[test]
    fn a_container_does_not_show_the_kernels_threads() {
        let init = "//- /proc/1/stat\n1 (sh) S 0 1 1 0 -1 4194560 0\n";
        assert!(shown(&format!("{init}{OURS}")).contains("a container shows none"));
        let thread = "//- /proc/2/stat\n2 (kthreadd) S 0 0 0 0 -1 2129984 0\n";
        assert_eq!(shown(&format!("{init}{thread}{OURS}")), "Ok(3), Ok(1)");
    }
}
