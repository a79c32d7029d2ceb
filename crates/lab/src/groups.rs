//! The control groups that a node or a server runs in, and what their CPU quotas take from it.

use crate::throttling::Throttling;
use facts::HostView;
use facts::system::cgroup::{Folders, LimitedGroup, Mounts, Throttling as Counts};
use host::{Live, Source};
use std::collections::BTreeMap;

/// The control groups of a node's processes, and those above them.
pub(crate) struct Groups {
    folders: Folders,
    /// The counts of each group at the end of the last interval.
    counted: BTreeMap<String, Counts>,
}

impl Groups {
    /// Those of this process, and of these processes and tasks; the same for as long as the node runs.
    pub(crate) fn of(tasks: impl Iterator<Item = u32>) -> Groups {
        Groups::of_names(tasks.map(|it| it.to_string()).chain(["self".to_owned()]))
    }

    /// Those of the tasks of a server.
    pub(crate) fn of_server(tasks: &[u32]) -> Groups {
        Groups::of_names(tasks.iter().map(u32::to_string))
    }

    fn of_names(names: impl Iterator<Item = String>) -> Groups {
        let live = Live::this_machine();
        let source: &dyn Source = &live;
        let mounts = source.parsed("/proc/self/mountinfo", Mounts::parse).unwrap_or_default();
        // A process that has ended since is in no group.
        let of_task = |task: String| {
            source.parsed(&format!("/proc/{task}/cgroup"), |text| mounts.folders(text)).ok()
        };
        let mut folders: Folders = names.filter_map(of_task).flatten().collect();
        folders.sort_unstable();
        folders.dedup();
        Groups { folders, counted: BTreeMap::new() }
    }

    /// The host without the quotas that do not limit the node: those of other nodes' database servers, and of other programs.
    pub(crate) fn concerned(&self, host: HostView) -> HostView {
        let is_in = |version, folder: &str| {
            self.folders.iter().any(|own| own.0 == version && own.1 == folder)
        };
        let is_own = |it: &LimitedGroup| it.holds_us || is_in(it.version, &it.folder);
        let limited = host.limited_groups.map(|it| it.into_iter().filter(is_own).collect());
        let throttled = host.throttled_groups.map(|mut groups| {
            groups.list.retain(|it| is_in(it.version, &it.folder));
            groups
        });
        HostView { limited_groups: limited, throttled_groups: throttled, ..host }
    }

    /// Begins to count.
    pub(crate) fn begin(&mut self) {
        self.counted = self.folders.iter().filter_map(counts).collect();
    }

    /// What the quota that throttled most took since the last call, or since the beginning; `None` where none was in force.
    pub(crate) fn throttling(&mut self) -> Option<Throttling> {
        let live = Live::this_machine();
        let mut all: Vec<Throttling> = Vec::new();
        for own in &self.folders {
            let Some((folder, after)) = counts(own) else { continue };
            let before = self.counted.insert(folder.clone(), after);
            let quota = host::quota_of(&live, own.0, &own.1).ok().flatten();
            let between = before
                .zip(quota)
                .and_then(|(before, quota)| Throttling::between(&folder, &quota, &before, &after));
            all.extend(between);
        }
        all.into_iter().max_by_key(|it| (it.throttled_ns, it.periods))
    }
}

fn counts(
    (version, folder): &(facts::system::cgroup::Version, String),
) -> Option<(String, Counts)> {
    let live = Live::this_machine();
    let source: &dyn Source = &live;
    let counts =
        source.parsed(&format!("{folder}/cpu.stat"), |it| Counts::parse(it, *version)).ok()?;
    Some((folder.clone(), counts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::system::cgroup::{Quota, ThrottledGroup, ThrottledGroups, Version};
    use facts::{Missing, Origin};
    use std::time::Duration;

    #[test]
    fn a_quota_of_another_group_is_no_concern_of_a_node() {
        let group = |folder: &str, holds_us| LimitedGroup {
            folder: folder.to_owned(),
            version: Version::V2,
            quota: Quota::of(25_000, 100_000),
            burst: Err(Missing::absent("cpu.max.burst")),
            throttling: Err(Missing::not_here("throttling", "a test")),
            holds_us,
            databases: Vec::new(),
        };
        let groups =
            Groups { folders: vec![(Version::V2, "/g/a".to_owned())], counted: BTreeMap::new() };
        let limited = vec![group("/g/a", false), group("/g/b", false), group("/g", true)];
        let throttled = |folder: &str| ThrottledGroup {
            folder: folder.to_owned(),
            version: Version::V2,
            quota: Quota::of(25_000, 100_000),
            burst: Err(Missing::absent("cpu.max.burst")),
            throttling: Counts { n_periods: 9, n_throttled: 8, time: Duration::ZERO },
            n_processes: 0,
            busiest: Vec::new(),
        };
        let list = vec![throttled("/g/a"), throttled("/g/b")];
        let host = HostView {
            limited_groups: Ok(limited),
            throttled_groups: Ok(ThrottledGroups { list, missing: None }),
            ..HostView::unasked(Origin::Capture)
        };
        let left = groups.concerned(host);
        let folders: Vec<String> =
            left.limited_groups.unwrap().into_iter().map(|it| it.folder).collect();
        assert_eq!(folders, ["/g/a", "/g"]);
        let folders: Vec<String> =
            left.throttled_groups.unwrap().list.into_iter().map(|it| it.folder).collect();
        assert_eq!(folders, ["/g/a"]);
    }

    #[test]
    fn this_process_is_in_some_group_wherever_there_are_any() {
        let has_groups = std::path::Path::new("/sys/fs/cgroup").is_dir();
        let groups = Groups::of([std::process::id()].into_iter());
        assert!(!has_groups || !groups.folders.is_empty());
    }
}
