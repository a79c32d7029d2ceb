//! Reads the control groups that their CPU quota has stopped, whatever runs in them, and who does.
//!
//! Every group is looked at once: `cpu.max` (version 2) or `cpu.cfs_quota_us` (version 1), `cpu.stat` where there is a quota, and
//! `cgroup.procs` where that has stopped it. Of a process its number, and with that its name, is all that is asked.
//!
//! Sources: Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-bwc.rst,
//! Documentation/admin-guide/cgroup-v1/cgroups.rst.

use super::groups::{Limits, Place, walk};
use super::processes::{burst_of, quota_of};
use crate::Source;
use facts::system::cgroup::{
    Folders, Mounts, ThrottledGroup, ThrottledGroups, Throttling, Version, busiest,
};
use facts::system::process::Process;
use facts::{Fact, IfPresent, Missing, Origin, Why, parse};
use std::collections::BTreeMap;

/// Containers in a container of a virtual machine's slice are some ten deep. A node of Kubernetes has some hundreds of groups, a host of
/// many containers some thousands.
pub(super) const LIMITS: Limits = Limits { deepest: 32, most: 8192, what: "groups" };

/// Processes whose groups are looked up one by one, where no group names its members.
const MOST_PROCESSES: usize = 1 << 16;

/// Where distributions mount the CPU controller, for copies of a host that were made without its mounts.
const USUAL: [(Version, &str); 3] = [
    (Version::V2, "/sys/fs/cgroup"),
    (Version::V1, "/sys/fs/cgroup/cpu,cpuacct"),
    (Version::V1, "/sys/fs/cgroup/cpu"),
];

/// Reads them, each before those in it.
pub(super) fn read(source: &dyn Source, processes: &Fact<Vec<Process>>) -> Fact<ThrottledGroups> {
    let mounts = source.parsed("/proc/self/mountinfo", Mounts::parse);
    let mounts = mounts.or_else(|missing| usual(source).ok_or(missing))?;
    let (mut found, mut missing) = (Vec::new(), None);
    let roots: Vec<(Version, String)> = mounts
        .points()
        .filter(|(version, point)| has_cpu_controller(source, *version, point, &mut missing))
        .map(|(version, point)| (version, point.trim_end_matches('/').to_owned()))
        .collect();
    walk(source, roots, &LIMITS, &mut missing, |place, mut within: Vec<usize>, missing| {
        look_at(source, place, &mut found, &mut within, missing);
        Some(within)
    });
    let processes = processes.as_deref().unwrap_or_default();
    if source.origin() == Origin::Tree && found.iter().any(|it| it.pids.is_empty()) {
        add_by_process(source, &mounts, processes, &mut found);
    }
    let by_pid: BTreeMap<u32, &Process> = processes.iter().map(|it| (it.pid, it)).collect();
    let list = found.into_iter().map(|it| it.with_members(&by_pid)).collect();
    Ok(ThrottledGroups { list, missing })
}

/// The mount of a copy that has files of the CPU controller at one of the usual places.
fn usual(source: &dyn Source) -> Option<Mounts> {
    let has = |path: String| source.origin() == Origin::Tree && source.text(&path).is_ok();
    let (version, point) = USUAL.iter().find(|(version, point)| match version {
        Version::V1 => has(format!("{point}/cpu.shares")),
        Version::V2 => has(format!("{point}/cgroup.controllers")),
    })?;
    Some(Mounts::at(*version, point))
}

/// A group that was stopped, and the processes in it and below.
struct Found {
    group: ThrottledGroup,
    pids: Vec<u32>,
}

/// Whether the CPU controller is at a mount point, as far as is known.
fn has_cpu_controller(
    source: &dyn Source,
    version: Version,
    point: &str,
    missing: &mut Option<Missing>,
) -> bool {
    // A file of every hierarchy: a capture that was made without a look at all groups does not have it.
    let witness = match version {
        Version::V1 => format!("{point}/notify_on_release"),
        Version::V2 => format!("{point}/cgroup.controllers"),
    };
    let is_cpu = |it: &str| it.split_ascii_whitespace().any(|word| word == "cpu");
    match source.text(&witness) {
        Ok(controllers) => version == Version::V1 || is_cpu(&controllers),
        Err(reason) if source.origin() == Origin::Capture && reason.why == Why::NotCollected => {
            missing.get_or_insert(reason);
            false
        }
        Err(_) => true,
    }
}

/// Adds the group where its quota has stopped it, and its members to the stopped ones that it is `within`.
fn look_at(
    source: &dyn Source,
    place: &Place,
    found: &mut Vec<Found>,
    within: &mut Vec<usize>,
    missing: &mut Option<Missing>,
) {
    if let Some(group) = throttled(source, place, missing) {
        within.push(found.len());
        found.push(Found { group, pids: Vec::new() });
    }
    if !within.is_empty() {
        let pids = members(source, place.version, &place.folder);
        for &at in within.iter() {
            found[at].pids.extend(&pids);
        }
    }
}

/// The group, where its quota has stopped it.
fn throttled(
    source: &dyn Source,
    place: &Place,
    missing: &mut Option<Missing>,
) -> Option<ThrottledGroup> {
    let Place { version, folder, .. } = place;
    let quota = known(quota_of(source, *version, folder), missing)??;
    let counts = |text: &str| Throttling::parse(text, *version);
    let throttling = known(source.parsed(&format!("{folder}/cpu.stat"), counts), missing)?;
    (throttling.n_throttled > 0).then(|| ThrottledGroup {
        folder: folder.clone(),
        version: *version,
        quota,
        burst: burst_of(source, *version, folder),
        throttling,
        n_processes: 0,
        busiest: Vec::new(),
    })
}

fn known<T>(fact: Fact<T>, missing: &mut Option<Missing>) -> Option<T> {
    match fact {
        Ok(value) => Some(value),
        Err(reason) => {
            // In a folder of a copy a group is collected with all its files, or only its neighbours are.
            if !reason.is_absence() && reason.why != Why::NotCollected {
                missing.get_or_insert(reason);
            }
            None
        }
    }
}

/// The processes in a group itself. In a threaded group of version 2 they cannot be read: they are members of one above it.
pub(super) fn members(source: &dyn Source, version: Version, folder: &str) -> Vec<u32> {
    let numbers = |file: &str| source.text(&format!("{folder}/{file}"));
    let text = match (numbers("cgroup.procs"), version) {
        // Linux before 2.6.33 has threads only, a process among them by the number of its first one.
        (Err(_), Version::V1) => numbers("tasks"),
        (text, _) => text,
    };
    let text = text.unwrap_or_default();
    text.lines().filter_map(|it| parse::number(it).ok()?.try_into().ok()).collect()
}

/// The members by the processes' own words.
fn add_by_process(
    source: &dyn Source,
    mounts: &Mounts,
    processes: &[Process],
    found: &mut [Found],
) {
    for process in processes.iter().filter(|it| !it.is_kernel_thread).take(MOST_PROCESSES) {
        let path = format!("/proc/{}/cgroup", process.pid);
        let folders: Fact<Folders> = source.parsed(&path, |text| mounts.folders(text));
        let Ok(Some(folders)) = folders.if_present() else { continue };
        for it in found.iter_mut() {
            let is_its = |(version, folder): &(Version, String)| {
                *version == it.group.version && *folder == it.group.folder
            };
            if folders.iter().any(is_its) {
                it.pids.push(process.pid);
            }
        }
    }
}

impl Found {
    fn with_members(self, processes: &BTreeMap<u32, &Process>) -> ThrottledGroup {
        let Found { mut group, mut pids } = self;
        pids.sort_unstable();
        pids.dedup();
        group.n_processes = pids.len();
        group.busiest = busiest(pids.iter().filter_map(|pid| processes.get(pid).copied()));
        group
    }
}

#[cfg(test)]
mod tests {
    use crate::{Captured, Recording, Source, view_of};
    use facts::{HostView, Origin, Subject, Subjects};
    use std::fmt::Write as _;

    const V2: &str =
        "//- /proc/self/mountinfo\n31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    const V1: &str = "//- /proc/self/mountinfo\n\
                      32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                      33 31 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
                      //- /sys/fs/cgroup/unified/cgroup.controllers\n\n";

    fn v2(folder: &str, quota: &str, n_throttled: u32, pids: &str) -> String {
        let folder = format!("//- /sys/fs/cgroup/{folder}");
        format!(
            "{folder}/cpu.max\n{quota} 100000\n{folder}/cpu.stat\nnr_periods 1000\nnr_throttled {n_throttled}\n\
             throttled_usec 5000\n{folder}/cgroup.procs\n{pids}\n"
        )
    }

    fn process(pid: u32, name: &str, ticks: u32) -> String {
        format!(
            "//- /proc/{pid}/stat\n{pid} ({name}) S 1 1 1 0 -1 4194560 0 0 0 0 {ticks} 0 0 0 20 0 1 0 500\n"
        )
    }

    fn read(source: &dyn Source) -> HostView {
        view_of(source, Subjects::of(&[Subject::ThrottledGroups]))
    }

    /// `folder n_throttled: processes, busiest`, a line each.
    fn shown(source: &dyn Source) -> String {
        let groups = match read(source).throttled_groups {
            Ok(groups) => groups,
            Err(missing) => return missing.to_string(),
        };
        let mut lines = String::new();
        for group in &groups.list {
            let names: Vec<&str> = group.busiest.iter().map(|it| it.name.as_str()).collect();
            let folder = group.folder.trim_start_matches("/sys/fs/cgroup");
            let n = (group.throttling.n_throttled, group.n_processes);
            writeln!(lines, "{folder} {}: {} {}", n.0, n.1, names.join(" ")).unwrap();
        }
        groups.missing.iter().for_each(|it| writeln!(lines, "{it}").unwrap());
        lines
    }

    fn excerpt(text: &str) -> String {
        shown(&Captured::excerpt(text).unwrap())
    }

    #[test]
    fn a_group_is_found_whoever_is_in_it_and_those_who_ran_longest_are_named() {
        let text = [
            V2.to_owned(),
            v2("system.slice/app.service", "50000", 900, "300\n301\n302\n303\n304"),
            v2("system.slice/free.service", "max", 0, "305"),
            v2("system.slice/calm.service", "50000", 0, "306"),
            process(300, "sh", 1),
            process(301, "java", 900),
            process(302, "java", 70),
            process(303, "tail", 80),
            process(304, "sleep", 0),
        ];
        assert_eq!(excerpt(&text.concat()), "/system.slice/app.service 900: 5 java tail java\n");
    }

    #[test]
    fn a_group_above_has_the_processes_of_those_in_it() {
        let text = [
            V2.to_owned(),
            v2("kubepods/pod1", "200000", 30, ""),
            v2("kubepods/pod1/a", "10000", 40, "300"),
            v2("kubepods/pod1/b", "max", 0, "301"),
            process(300, "beam.smp", 5),
            process(301, "pause", 1),
        ];
        assert_eq!(
            excerpt(&text.concat()),
            "/kubepods/pod1 30: 2 beam.smp pause\n/kubepods/pod1/a 40: 1 beam.smp\n"
        );
    }

    #[test]
    fn version_1_has_threads_where_it_has_no_list_of_processes() {
        let folder = "//- /sys/fs/cgroup/cpu/box";
        let text = format!(
            "{V1}{folder}/cpu.cfs_quota_us\n50000\n{folder}/cpu.cfs_period_us\n100000\n{folder}/cpu.stat\n\
             nr_periods 10\nnr_throttled 5\nthrottled_time 900\n{folder}/tasks\n300\n310\n\
             //- /sys/fs/cgroup/cpu/open/cpu.cfs_quota_us\n-1\n{}",
            process(300, "httpd", 9)
        );
        assert_eq!(excerpt(&text), "/cpu/box 5: 2 httpd\n");
    }

    #[test]
    fn a_capture_has_no_more_than_the_groups_need_and_gives_them_again() {
        let mut text = V2.to_owned();
        for n in 0..2000 {
            text += &v2(&format!("a/b{n}"), if n % 2 == 0 { "max" } else { "1000" }, n, "7");
            writeln!(text, "//- /sys/fs/cgroup/a/b{n}/memory.current\n5").unwrap();
        }
        text += &process(7, "node", 3);
        let host = Captured::excerpt(&text).unwrap();
        let recording = Recording::new(&host);
        let first = shown(&recording);
        assert_eq!(first.lines().count(), 1000);
        assert!(first.starts_with("/a/b1 1: 1 node\n"), "{first}");
        let capture = recording.capture();
        assert!(!capture.contains("memory"), "names of files are of no use");
        assert!(capture.len() < text.len(), "{}", capture.len());
        assert_eq!(shown(&Captured::parse(&capture).unwrap()), first);
    }

    #[test]
    fn a_capture_that_was_made_without_a_look_at_all_groups_is_no_proof() {
        let old = format!(
            "fullclock capture 1\n{V2}//- /sys/fs/cgroup/a/cpu.max\nmax 100000\n//- /proc/\n"
        );
        assert_eq!(
            shown(&Captured::parse(&old).unwrap()),
            "/sys/fs/cgroup/cgroup.controllers is not in this copy of the host\n"
        );
    }

    #[test]
    fn more_groups_than_a_host_has_are_unknown() {
        let mut text = V2.to_owned();
        for n in 0..9000 {
            writeln!(text, "//- /sys/fs/cgroup/a{n}/cpu.max\nmax 100000").unwrap();
        }
        let shown = excerpt(&text);
        assert!(shown.contains("more than 8192 groups"), "{shown}");
    }

    #[test]
    fn a_counter_that_cannot_be_read_is_noted() {
        let text = format!("{V2}{}", v2("a", "1000", 5, ""));
        let denied =
            text.replace("nr_periods 1000\nnr_throttled 5\nthrottled_usec 5000", "!denied");
        assert_eq!(excerpt(&denied), "/sys/fs/cgroup/a/cpu.stat may not be read\n");
    }

    #[test]
    fn a_bundle_without_mounts_has_groups_at_the_usual_place_and_members_by_process() {
        let group = v2("a.service", "1000", 5, "7")
            .replace("//- /sys/fs/cgroup/a.service/cgroup.procs\n7\n", "");
        let text = format!(
            "fullclock capture 1 (imported)\n//- /sys/fs/cgroup/cgroup.controllers\ncpu io\n{group}{}\
             //- /proc/7/cgroup\n0::/a.service\n",
            process(7, "node", 3)
        );
        let host = Captured::parse(&text).unwrap();
        assert_eq!(host.origin(), Origin::Tree);
        assert_eq!(shown(&host), "/a.service 5: 1 node\n");
    }
}
