//! Reads the partitions of cpusets.
//!
//! A partition lies below other partitions, or, as a remote one, anywhere (Linux 6.7). Groups are looked at four deep, and only those in
//! which the cpuset controller is on: services lie below slices, containers below pods.

use super::groups::{Limits, walk};
use crate::Source;
use facts::system::cgroup::Version;
use facts::system::partition::{Partition, Partitions, state};
use facts::{CpuSet, Fact, HostView, IfPresent};

const ROOT: &str = "/sys/fs/cgroup";
const LIMITS: Limits = Limits { deepest: 4, most: 4096, what: "groups with cpusets" };

/// Reads them; and the CPUs of isolated ones, where the root group has no list of them.
pub(super) fn read(source: &dyn Source, host: &mut HostView) {
    let partitions = partitions(source);
    let list = source.parsed(&format!("{ROOT}/cpuset.cpus.isolated"), CpuSet::parse_list);
    host.isolation.partitions = match (list, &partitions) {
        (Err(missing), Ok(partitions)) if missing.is_absence() && !partitions.list.is_empty() => {
            Ok(partitions.isolated())
        }
        (list, _) => list,
    };
    host.isolation.requested_partitions = partitions;
}

fn partitions(source: &dyn Source) -> Fact<Partitions> {
    let mut found = Partitions::default();
    let controllers = source.text(&format!("{ROOT}/cgroup.subtree_control"))?;
    if !controllers.split_whitespace().any(|it| it == "cpuset") {
        return Ok(found);
    }
    let Partitions { list, missing } = &mut found;
    let roots = [(Version::V2, ROOT.to_owned())];
    walk(source, roots, &LIMITS, missing, |place, (), missing| {
        if place.depth == 0 {
            return Some(());
        }
        match partition(source, &place.folder) {
            Ok(partition) => list.extend(partition),
            Err(reason) => {
                // Where there is no such file, here and below the controller is off.
                if !reason.is_absence() {
                    missing.get_or_insert(reason);
                }
                return None;
            }
        }
        Some(())
    });
    Ok(found)
}

/// The partition; `None` for a member of that above.
fn partition(source: &dyn Source, folder: &str) -> Fact<Option<Partition>> {
    let Some(state) = source.parsed(&format!("{folder}/cpuset.cpus.partition"), state)? else {
        return Ok(None);
    };
    let list = |name: &str| source.parsed(&format!("{folder}/{name}"), CpuSet::parse_list);
    let set = |name: &str| list(name).if_present().ok().flatten().cloned().unwrap_or_default();
    Ok(Some(Partition {
        folder: folder.to_owned(),
        is_isolated: state.is_isolated,
        invalid: state.invalid,
        cpus: set("cpuset.cpus.effective"),
        wanted: set("cpuset.cpus"),
    }))
}

#[cfg(test)]
mod tests {
    use crate::{Captured, view_of};
    use facts::system::isolation::Isolation;
    use facts::{Subject, Subjects};

    fn read(excerpt: &str) -> Isolation {
        let host = Captured::excerpt(excerpt).unwrap();
        view_of(&host, Subjects::of(&[Subject::Isolation])).isolation
    }

    const ON: &str =
        "//- /sys/fs/cgroup/cgroup.subtree_control\ncpuset cpu\n//- /proc/cmdline\nquiet\n";

    fn group(name: &str, state: &str, cpus: &str) -> String {
        let folder = format!("//- /sys/fs/cgroup/{name}");
        format!(
            "{folder}/cpuset.cpus.partition\n{state}\n{folder}/cpuset.cpus.effective\n{cpus}\n{folder}/cpuset.cpus\n{cpus}\n"
        )
    }

    #[test]
    fn a_kernel_without_the_list_of_the_root_has_the_partitions_themselves() {
        let text = [
            ON.to_owned(),
            group("a.slice", "isolated", "2-3"),
            group("b.slice", "root", "1"),
            group("c.slice", "isolated invalid (Parent is not a partition root)", "0-1"),
            group("d.slice", "member", "0-1"),
            group("d.slice/e.service", "isolated", "4"),
        ];
        let isolation = read(&text.concat());
        assert_eq!(isolation.partitions.as_ref().map(ToString::to_string), Ok("2-4".into()));
        let list = isolation.requested_partitions.unwrap().list;
        let invalid = list.iter().filter_map(|it| it.invalid.as_deref());
        assert_eq!(invalid.collect::<Vec<_>>(), ["Parent is not a partition root"]);
        assert_eq!(list.len(), 4);
    }

    #[test]
    fn the_list_of_the_root_counts_where_there_is_one() {
        let list = "//- /sys/fs/cgroup/cpuset.cpus.isolated\n2\n";
        let isolation = read(&(ON.to_owned() + list + &group("a.slice", "isolated", "2-3")));
        assert_eq!(isolation.partitions.map(|it| it.to_string()), Ok("2".into()));
    }

    #[test]
    fn without_the_controller_no_group_is_looked_at() {
        let off = ON.replace("cpuset cpu", "cpu io");
        let isolation = read(&(off + &group("a.slice", "isolated", "2-3")));
        assert!(isolation.requested_partitions.unwrap().list.is_empty());
        assert!(isolation.partitions.is_err());
    }
}
