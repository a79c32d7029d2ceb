//! Reads the memory bandwidth that resctrl leaves to its groups, where it is mounted.
//!
//! The threads of the default group are not read: they are all those that are in no other.

use crate::Source;
use facts::cpu::cpuinfo::CpuInfo;
use facts::system::cgroup::busiest;
use facts::system::database;
use facts::system::process::Process;
use facts::system::resctrl::{BandwidthLimit, BandwidthLimits, FOLDER, Unit, bandwidth};
use facts::{CpuSet, Fact, parse};
use std::collections::BTreeSet;

/// Folders that are no groups (Documentation/filesystems/resctrl.rst).
const NO_GROUPS: [&str; 3] = ["info", "mon_data", "mon_groups"];

/// Reads the groups with a limit.
pub(super) fn read(
    source: &dyn Source,
    info: &Fact<CpuInfo>,
    processes: &Fact<Vec<Process>>,
) -> Fact<BandwidthLimits> {
    // The folder is there without the mount, too, and empty.
    source.text(&format!("{FOLDER}/schemata"))?;
    let unit = Unit::of(&source.text("/proc/self/mountinfo")?, info);
    let default = group(source, FOLDER, unit)?;
    let processes = processes.as_deref().unwrap_or_default();
    let servers: Vec<(&Process, &'static str)> = database::servers(processes).collect();
    let (mut list, mut missing, mut elsewhere) = (Vec::new(), None, BTreeSet::new());
    let names = source.folders(FOLDER)?;
    for name in names.iter().filter(|it| !NO_GROUPS.contains(&it.as_str())) {
        let folder = format!("{FOLDER}/{name}");
        let tasks = tasks(source, &folder);
        elsewhere.extend(tasks.iter().copied());
        match group(source, &folder, unit) {
            Ok(Some(limit)) => list.push(with_members(limit, &tasks, processes, &servers)),
            Ok(None) => {}
            Err(reason) if reason.is_absence() => {}
            Err(reason) => missing = missing.or(Some(reason)),
        }
    }
    if let Some(mut limit) = default {
        let is_here = |it: &&(&Process, &'static str)| !elsewhere.contains(&it.0.pid);
        let servers = servers.iter().filter(is_here);
        limit.databases = servers.map(|(it, product)| ((*it).clone(), *product)).collect();
        list.insert(0, limit);
    }
    Ok(BandwidthLimits { unit, list, missing })
}

/// The group, where one of its domains is limited.
fn group(source: &dyn Source, folder: &str, unit: Unit) -> Fact<Option<BandwidthLimit>> {
    let line = source.parsed(&format!("{folder}/schemata"), bandwidth)?;
    let Some((line, numbers)) = line else { return Ok(None) };
    let lowest = numbers.into_iter().min().unwrap_or(unit.unlimited());
    if lowest >= unit.unlimited() {
        return Ok(None);
    }
    let cpus = source.parsed(&format!("{folder}/cpus_list"), CpuSet::parse_list);
    Ok(Some(BandwidthLimit {
        folder: folder.to_owned(),
        lowest,
        line,
        cpus: cpus.unwrap_or_default(),
        n_tasks: 0,
        busiest: Vec::new(),
        databases: Vec::new(),
    }))
}

/// The numbers of its threads; that of a process is the number of its first one.
fn tasks(source: &dyn Source, folder: &str) -> BTreeSet<u32> {
    let text = source.text(&format!("{folder}/tasks")).unwrap_or_default();
    text.lines().filter_map(|it| parse::number(it).ok()?.try_into().ok()).collect()
}

fn with_members(
    mut limit: BandwidthLimit,
    tasks: &BTreeSet<u32>,
    processes: &[Process],
    servers: &[(&Process, &'static str)],
) -> BandwidthLimit {
    limit.n_tasks = tasks.len();
    limit.busiest = busiest(processes.iter().filter(|it| tasks.contains(&it.pid)));
    let databases = servers.iter().filter(|(it, _)| tasks.contains(&it.pid));
    limit.databases = databases.map(|(it, product)| ((*it).clone(), *product)).collect();
    limit
}

#[cfg(test)]
mod tests {
    use crate::{Captured, view_of};
    use facts::system::resctrl::{BandwidthLimits, Unit};
    use facts::{Fact, Missing, Subject, Subjects};

    const INTEL: &str = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\n\
                         //- /proc/self/mountinfo\n40 24 0:35 / /sys/fs/resctrl rw - resctrl resctrl rw\n\
                         //- /proc/812/stat\n812 (postgres) S 1 1 1 0 -1 4194560 0\n";

    fn read(excerpt: &str) -> Fact<BandwidthLimits> {
        let host = Captured::excerpt(excerpt).unwrap();
        view_of(&host, Subjects::of(&[Subject::MemoryBandwidth])).memory_bandwidth
    }

    fn group(name: &str, line: &str, tasks: &str) -> String {
        let folder = format!("//- /sys/fs/resctrl{name}");
        format!(
            "{folder}/schemata\n    {line}\n    L3:0=7ff\n{folder}/tasks\n{tasks}\n{folder}/cpus_list\n\n"
        )
    }

    #[test]
    fn groups_with_a_limit_are_read_with_who_is_in_them() {
        let text = [
            INTEL.to_owned(),
            group("", "MB:0=100;1=100", "1"),
            group("/db", "MB:0=100;1= 30", "812\n813"),
            group("/free", "MB:0=100;1=100", "9"),
            group("/mon_groups", "MB:0=1", ""),
        ];
        let limits = read(&text.concat()).unwrap();
        let names: Vec<&str> = limits.list.iter().map(|it| it.folder.as_str()).collect();
        assert_eq!((names, limits.unit), (vec!["/sys/fs/resctrl/db"], Unit::Percent));
        let db = &limits.list[0];
        assert_eq!((db.lowest, db.n_tasks, db.databases.len()), (30, 2, 1));
    }

    #[test]
    fn a_database_that_is_in_no_group_is_in_the_default_one() {
        let limited = INTEL.to_owned() + &group("", "MB:0=50", "1");
        assert_eq!(read(&limited).unwrap().list[0].databases.len(), 1);
        let elsewhere = limited + &group("/db", "MB:0=100", "812");
        assert!(read(&elsewhere).unwrap().list[0].databases.is_empty());
    }

    #[test]
    fn a_folder_without_the_mount_has_no_groups() {
        let missing = Missing::absent("/sys/fs/resctrl/schemata");
        assert_eq!(read(INTEL), Err(missing));
    }
}
