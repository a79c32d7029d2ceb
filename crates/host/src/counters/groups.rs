//! Control groups: what a CPU quota has taken from those of chosen processes, and from those that have one.
//!
//! Source: Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-bwc.rst. A group without the
//! CPU controller counts no periods and is left out, as the root group is.

use super::files::{File, Files};
use crate::{Source, clock};
use facts::counters::{Counters, Group};
use facts::system::cgroup::{Mounts, Throttling, Version};
use facts::{Fact, HostView, IfPresent, Missing};

#[derive(Debug)]
pub(super) struct Quotas {
    groups: Fact<Vec<Quota>>,
    mounts: Mounts,
    /// Processes whose groups are looked up at each sample, for they may move.
    chosen: Vec<u32>,
}

#[derive(Debug)]
struct Quota {
    path: String,
    version: Version,
    stat: File,
}

impl Quotas {
    /// Those that the host is known to limit, and those of the processes `chosen`.
    pub(super) fn of(source: &dyn Source, host: &HostView, chosen: &[u32]) -> Quotas {
        let (groups, mounts) = match find(source, host, chosen) {
            Ok((groups, mounts)) => (Ok(groups), mounts),
            Err(missing) => (Err(missing), Mounts::default()),
        };
        Quotas { groups, mounts, chosen: chosen.to_vec() }
    }

    /// Takes in the groups that the chosen processes have moved to.
    fn follow(&mut self, files: &mut Files) {
        let Ok(quotas) = &mut self.groups else { return };
        for pid in &self.chosen {
            // A process that has ended is in no group.
            let Ok(text) = files.read_once(&format!("/proc/{pid}/cgroup")) else { continue };
            let text = String::from_utf8_lossy(text);
            let folders = self.mounts.folders(&text).unwrap_or_default();
            for quota in folders.into_iter().filter_map(|it| Quota::of(&self.mounts, it)) {
                let is_known = |it: &Quota| it.path == quota.path && it.version == quota.version;
                if !quotas.iter().any(is_known) {
                    quotas.push(quota);
                }
            }
        }
    }

    pub(super) fn sample(&mut self, files: &mut Files, into: &mut Counters) {
        self.follow(files);
        let quotas = match &mut self.groups {
            Ok(quotas) => quotas,
            Err(missing) => {
                into.groups = Err(missing.clone());
                return;
            }
        };
        let mut groups = std::mem::replace(&mut into.groups, Err(Missing::not_collected("groups")))
            .unwrap_or_default();
        groups.read_at = clock::raw_ns();
        // Paths of groups are kept, so that a sample like the last one allocates nothing.
        groups.list.resize_with(quotas.len(), Group::default);
        let mut n_groups = 0;
        for quota in quotas {
            let Some(throttling) = quota.throttling(files) else { continue };
            let Some(group) = groups.list.get_mut(n_groups) else { break };
            if group.path != quota.path {
                group.path.clone_from(&quota.path);
            }
            group.periods = throttling.n_periods;
            group.throttled_periods = throttling.n_throttled;
            group.throttled_ns = u64::try_from(throttling.time.as_nanos()).unwrap_or(u64::MAX);
            n_groups += 1;
        }
        groups.list.truncate(n_groups);
        into.groups = Ok(groups);
    }
}

impl Quota {
    /// Of the group with this folder; `None` where no mount holds it.
    fn of(mounts: &Mounts, (version, folder): (Version, String)) -> Option<Quota> {
        let path = mounts.group_of(version, &folder)?;
        Some(Quota { path, version, stat: File::new(format!("{folder}/cpu.stat")) })
    }

    /// `None` for a group that was removed, or has no CPU controller.
    fn throttling(&mut self, files: &mut Files) -> Option<Throttling> {
        let text = std::str::from_utf8(files.read(&mut self.stat).ok()?).ok()?;
        Throttling::parse(text, self.version).ok()
    }
}

fn find(source: &dyn Source, host: &HostView, chosen: &[u32]) -> Fact<(Vec<Quota>, Mounts)> {
    let mounts = source.parsed("/proc/self/mountinfo", Mounts::parse)?;
    let limited = host.limited_groups.as_ref()?;
    let mut folders: Vec<_> = limited.iter().map(|it| (it.version, it.folder.clone())).collect();
    for pid in chosen {
        let path = format!("/proc/{pid}/cgroup");
        let of_process = source.parsed(&path, |text| mounts.folders(text));
        folders.extend(of_process.if_present()?.into_iter().flatten().cloned());
    }
    folders.sort_unstable();
    folders.dedup();
    let quotas = folders.into_iter().filter_map(|it| Quota::of(&mounts, it)).collect();
    Ok((quotas, mounts))
}
