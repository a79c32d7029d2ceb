//! CPU quotas of control groups: how much a group may run, and how often it was stopped for it.
//!
//! Sources: Documentation/admin-guide/cgroup-v2.rst ("CPU Interface Files"), Documentation/scheduler/sched-bwc.rst
//! (both versions), proc_pid_mountinfo(5), cgroups(7). Counters run since the group was made.

use super::process::Process;
use crate::parse::{Expected, number, trimmed};
use crate::{Fact, Missing};
use std::cmp::Reverse;
use std::time::Duration;

/// A group with a CPU quota, and which of the processes that were looked at it limits.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitedGroup {
    /// Its folder, or that of the ancestor that has the quota.
    pub folder: String,
    /// The version of its interface.
    pub version: Version,
    /// What it may use.
    pub quota: Quota,
    /// What it may save up in periods in which it did not use its quota, and use later; absent before Linux 5.14.
    pub burst: Fact<Duration>,
    /// How often it was stopped.
    pub throttling: Fact<Throttling>,
    /// Whether this program runs in it.
    pub holds_us: bool,
    /// The database servers in it, with their product.
    pub databases: Vec<(Process, &'static str)>,
}

/// The control groups of a host that their CPU quota has stopped at least once, whatever runs in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThrottledGroups {
    /// They, groups above before those in them.
    pub list: Vec<ThrottledGroup>,
    /// The first reason why some group could not be looked at.
    pub missing: Option<Missing>,
}

/// A group that its CPU quota has stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct ThrottledGroup {
    /// Its folder.
    pub folder: String,
    /// The version of its interface.
    pub version: Version,
    /// What it may use.
    pub quota: Quota,
    /// What it may save up in periods in which it did not use its quota, and use later; absent before Linux 5.14.
    pub burst: Fact<Duration>,
    /// How often it was stopped.
    pub throttling: Throttling,
    /// How many processes are in it and in the groups below it; 0 where that is unknown, too.
    pub n_processes: usize,
    /// At most [`MOST_BUSIEST`] of them: those that have used most CPU time, the most first.
    pub busiest: Vec<Process>,
}

/// How many processes of a group are known by name.
pub const MOST_BUSIEST: usize = 3;

/// At most [`MOST_BUSIEST`] of the members of a group: those that have used most CPU time, the most first.
pub fn busiest<'a>(members: impl Iterator<Item = &'a Process>) -> Vec<Process> {
    let mut members: Vec<&Process> = members.collect();
    members.sort_by_key(|it| Reverse(it.cpu_time.clone().unwrap_or_default()));
    members.into_iter().take(MOST_BUSIEST).cloned().collect()
}

/// Whether the group of a folder is in that of another.
pub fn is_within(folder: &str, above: &str) -> bool {
    folder.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
}

/// The two interfaces of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// `cpu.cfs_quota_us`, nanoseconds in `cpu.stat`.
    V1,
    /// `cpu.max`, microseconds in `cpu.stat`.
    V2,
}

/// So much CPU time in every period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// CPU time of all members together.
    pub time: Duration,
    /// The period in which the quota may be used.
    pub period: Duration,
}

impl Quota {
    /// Parses `cpu.max`: "200000 100000"; `None` for "max 100000".
    pub fn parse(text: &str) -> Result<Option<Quota>, Expected> {
        const MAX: Expected = Expected("a quota and a period in microseconds");
        let (quota, period) = trimmed(text).split_once(' ').ok_or(MAX)?;
        let period = number(period).ok().filter(|&it| it > 0).ok_or(MAX)?;
        match quota {
            "max" => Ok(None),
            _ => number(quota).map(|quota| Some(Quota::of(quota, period))).map_err(|_| MAX),
        }
    }

    /// From microseconds.
    pub fn of(quota: u64, period: u64) -> Quota {
        Quota { time: Duration::from_micros(quota), period: Duration::from_micros(period) }
    }

    /// How many CPUs it amounts to.
    pub fn n_cpus(&self) -> f64 {
        self.time.as_nanos() as f64 / self.period.as_nanos() as f64
    }
}

/// How often a quota has stopped its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttling {
    /// Periods in which the group had something to run.
    pub n_periods: u64,
    /// Periods in which it used up its quota.
    pub n_throttled: u64,
    /// How long its CPUs stood still for it, added up.
    pub time: Duration,
}

impl Throttling {
    /// Parses `cpu.stat`.
    pub fn parse(text: &str, version: Version) -> Result<Throttling, Expected> {
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|value| number(value).ok())
        };
        let time = match version {
            Version::V1 => field("throttled_time").map(Duration::from_nanos),
            Version::V2 => field("throttled_usec").map(Duration::from_micros),
        };
        match (field("nr_periods"), field("nr_throttled"), time) {
            (Some(n_periods), Some(n_throttled), Some(time)) => {
                Ok(Throttling { n_periods, n_throttled, time })
            }
            _ => Err(Expected("lines nr_periods, nr_throttled and throttled time")),
        }
    }

    /// The share of its periods in which the group was stopped.
    pub fn share(&self) -> f64 {
        self.n_throttled as f64 / self.n_periods.max(1) as f64
    }
}

/// Where the CPU controllers are mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mounts(Vec<Mount>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Mount {
    version: Version,
    /// The group that is seen at the mount point: `/`, or a container's own.
    root: String,
    point: String,
}

/// The controllers and the path of a line of /proc/PID/cgroup, `hierarchy:controllers:path` (cgroups(7)); `None` for a
/// line that the kernel does not write.
pub fn fields(line: &str) -> Option<(&str, &str)> {
    let (hierarchy, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    let is_number = !hierarchy.is_empty() && hierarchy.bytes().all(|it| it.is_ascii_digit());
    (is_number && path.starts_with('/')).then_some((controllers, path))
}

/// A group's folder as a process sees it, deeper ones later.
pub type Folders = Vec<(Version, String)>;

/// Deeper than any group of systemd or Kubernetes: a text that claims more is none of theirs.
const DEEPEST: usize = 32;

/// A namespace has one or two mounts of a CPU controller, and one more for each container whose root it shows.
const MOST_MOUNTS: usize = 64;

impl Mounts {
    /// Parses /proc/self/mountinfo.
    pub fn parse(text: &str) -> Result<Mounts, Expected> {
        if trimmed(text).is_empty() {
            return Err(Expected("lines of mounts"));
        }
        let mounts: Vec<Mount> = text.lines().filter_map(mount).take(MOST_MOUNTS + 1).collect();
        if mounts.len() > MOST_MOUNTS {
            return Err(Expected("at most 64 mounts of the CPU controller"));
        }
        Ok(Mounts(mounts))
    }

    /// The folders that limit a process, from the text of its /proc/PID/cgroup: its groups' own and those of
    /// all their ancestors.
    pub fn folders(&self, cgroup: &str) -> Result<Folders, Expected> {
        const LINE: Expected = Expected("lines like 0::/system.slice");
        const TWICE: Expected = Expected("one line for each hierarchy");
        let mut folders = Folders::new();
        let mut seen: Vec<Version> = Vec::new();
        for line in cgroup.lines().filter(|line| !line.is_empty()) {
            let (controllers, path) = fields(line).ok_or(LINE)?;
            let version = match controllers {
                "" => Version::V2,
                _ if controllers.split(',').any(|it| it == "cpu") => Version::V1,
                _ => continue,
            };
            if seen.contains(&version) {
                return Err(TWICE);
            }
            seen.push(version);
            // The kernel writes no empty name: what has one is no path of its own.
            if path.contains("//") {
                return Err(LINE);
            }
            for mount in self.0.iter().filter(|mount| mount.version == version) {
                folders.extend(mount.chain(path).into_iter().map(|folder| (version, folder)));
            }
        }
        Ok(folders)
    }
}

impl Mounts {
    /// One hierarchy, all of which is mounted at `point`.
    pub fn at(version: Version, point: &str) -> Mounts {
        Mounts(vec![Mount { version, root: "/".to_owned(), point: point.to_owned() }])
    }

    /// Where the hierarchies are mounted, each at the first place that shows most of it.
    pub fn points(&self) -> impl Iterator<Item = (Version, &str)> {
        let is_below = |root: &str, other: &str| {
            let rest = root.strip_prefix(other.trim_end_matches('/'));
            rest.is_some_and(|it| it.is_empty() || it.starts_with('/'))
        };
        let is_shown = move |(at, mount): &(usize, &Mount)| {
            let shows_it = |(n, it): (usize, &Mount)| {
                let is_other = if it.root == mount.root { n < *at } else { n != *at };
                is_other && it.version == mount.version && is_below(&mount.root, &it.root)
            };
            !self.0.iter().enumerate().any(shows_it)
        };
        self.0.iter().enumerate().filter(is_shown).map(|(_, it)| (it.version, it.point.as_str()))
    }

    /// The path below the root of control groups of the group whose folder this is; `None` where no mount of
    /// this version holds it.
    pub fn group_of(&self, version: Version, folder: &str) -> Option<String> {
        let below = |mount: &Mount| {
            let rest = folder.strip_prefix(mount.point.trim_end_matches('/'))?;
            let is_inside = rest.is_empty() || rest.starts_with('/');
            let path = format!("{}{rest}", mount.root.trim_end_matches('/'));
            is_inside.then(|| if path.is_empty() { "/".to_owned() } else { path })
        };
        self.0.iter().filter(|mount| mount.version == version).find_map(below)
    }
}

impl Mount {
    /// The mount point and every folder below it on the way to the group `path`; none where the group lies
    /// outside of what is mounted (`/../..` in a container).
    fn chain(&self, path: &str) -> Vec<String> {
        let below = path.strip_prefix(self.root.trim_end_matches('/'));
        let Some(below) = below.filter(|it| it.is_empty() || it.starts_with('/')) else {
            return Vec::new();
        };
        let names: Vec<&str> = below.split('/').filter(|name| !name.is_empty()).collect();
        if names.len() > DEEPEST || names.contains(&"..") {
            return Vec::new();
        }
        let mut folder = self.point.clone();
        let mut chain = vec![folder.clone()];
        for name in names {
            folder = format!("{folder}/{name}");
            chain.push(folder.clone());
        }
        chain
    }
}

/// `33 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu`
fn mount(line: &str) -> Option<Mount> {
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, point) = (place.next()?.to_owned(), place.next()?.to_owned());
    let mut kind = kind.split(' ');
    let version = match kind.next()? {
        "cgroup2" => Version::V2,
        "cgroup" if kind.nth(1)?.split(',').any(|it| it == "cpu") => Version::V1,
        _ => return None,
    };
    Some(Mount { version, root, point })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
33 31 0:30 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
41 31 0:38 /kubepods/pod1 /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";

    fn folders(cgroup: &str) -> String {
        let folders = Mounts::parse(MOUNTS).unwrap().folders(cgroup).unwrap();
        folders.into_iter().map(|(_, folder)| folder).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_group_is_limited_by_all_its_ancestors() {
        assert_eq!(
            folders("3:cpuset:/x\n1:cpu:/a/b\n"),
            "/sys/fs/cgroup/cpu /sys/fs/cgroup/cpu/a /sys/fs/cgroup/cpu/a/b"
        );
    }

    #[test]
    fn a_group_is_looked_up_below_the_group_that_is_mounted() {
        assert_eq!(
            folders("0::/kubepods/pod1/db\n"),
            "/sys/fs/cgroup/unified /sys/fs/cgroup/unified/db"
        );
        assert_eq!(folders("0::/kubepods/pod10\n"), "");
        assert_eq!(folders("1:cpu:/../../other\n"), "");
    }

    #[test]
    fn a_path_may_have_colons_and_a_line_without_a_path_is_none() {
        assert_eq!(fields("0::/a:b::c"), Some(("", "/a:b::c")));
        assert_eq!(fields("4:cpu,cpuacct:/"), Some(("cpu,cpuacct", "/")));
        for line in ["fe80::/a", ":cpu:/a", "4:cpu:a", "4:/a", ""] {
            assert_eq!(fields(line), None, "{line}");
        }
    }

    #[test]
    fn a_folder_leads_back_to_its_group() {
        let mounts = Mounts::parse(MOUNTS).unwrap();
        let group = |version, folder| mounts.group_of(version, folder);
        let pod = Some("/kubepods/pod1/db".to_owned());
        assert_eq!(group(Version::V2, "/sys/fs/cgroup/unified/db"), pod);
        assert_eq!(group(Version::V1, "/sys/fs/cgroup/cpu"), Some("/".to_owned()));
        assert_eq!(group(Version::V1, "/sys/fs/cgroup/cpuset/a"), None);
    }

    #[test]
    fn a_hierarchy_that_is_mounted_twice_is_looked_at_once() {
        let points = |text: &str| {
            let mounts = Mounts::parse(text).unwrap();
            mounts.points().map(|(_, point)| point.to_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(points(MOUNTS), "/sys/fs/cgroup/cpu /sys/fs/cgroup/unified");
        let again = "51 31 0:38 /kubepods/pod1/a /a rw - cgroup2 cgroup2 rw\n\
                     52 31 0:38 / /all rw - cgroup2 cgroup2 rw\n\
                     53 31 0:38 / /again rw - cgroup2 cgroup2 rw\n";
        assert_eq!(points(&format!("{MOUNTS}{again}")), "/sys/fs/cgroup/cpu /all");
        assert_eq!(points(again), "/all");
    }

    #[test]
    fn an_unlimited_quota_is_none() {
        assert_eq!(Quota::parse("max 100000\n"), Ok(None));
        assert_eq!(Quota::parse("250000 100000\n").map(|it| it.unwrap().n_cpus()), Ok(2.5));
        // As people write it.
        assert_eq!(Quota::of(20_000, 100_000).n_cpus().to_string(), "0.2");
        assert!(Quota::parse("250000 0").is_err() && Quota::parse("").is_err());
    }

    #[test]
    fn both_versions_of_the_statistics_are_read() {
        let v1 = "nr_periods 10\nnr_throttled 2\nthrottled_time 3000000\n";
        let v2 = "usage_usec 5\nnr_periods 10\nnr_throttled 2\nthrottled_usec 3000\n";
        assert_eq!(Throttling::parse(v1, Version::V1), Throttling::parse(v2, Version::V2));
        assert!(Throttling::parse("usage_usec 5\n", Version::V2).is_err());
    }
}
