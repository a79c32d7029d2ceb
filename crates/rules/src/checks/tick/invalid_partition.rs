//! Looks for partitions of cpusets that were requested and are not in force.
//!
//! Sources: kernel/cgroup/cpuset.c (`perr_strings`); Documentation/admin-guide/cgroup-v2.rst, "cpuset.cpus.partition".

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::system::partition::Partition;
use facts::{CpuSet, HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "invalid-partition",
    title: "a control group was to keep CPUs for itself, and the kernel gave them to all",
    doc: "\
## What it looks at
`cpuset.cpus.partition` of the control groups of version 2, four deep: whether one reads `isolated invalid` or `root invalid`.

## Why it matters
An isolated partition keeps the scheduler from putting other tasks on its CPUs, as `isolcpus=` does, without a boot. The kernel takes a
partition back without an error when its conditions no longer hold: when another group claims one of the CPUs, when the group above stops
being a partition, when a CPU goes offline, or when all CPUs would be given away. The file says so and nobody else does; the tasks in the
group then share their CPUs with every other.

## When to leave it alone
While the group above is still being set up. A `root` partition is a domain of the scheduler and no isolation: where load balance between
the groups is wanted, it is not needed.
",
    references: &[Reference {
        title: "Linux: Control Group v2, Cpuset Interface Files",
        url: "https://docs.kernel.org/admin-guide/cgroup-v2.html#cpuset-interface-files",
    }],
    run,
};

fn run(host: &HostView) -> Verdict {
    let partitions = host.isolation.requested_partitions.as_ref()?;
    let findings: Vec<Finding> = partitions.list.iter().filter_map(|it| judge(host, it)).collect();
    match &partitions.missing {
        Some(missing) if findings.is_empty() => Err(missing.clone()),
        None if partitions.list.is_empty() => Err(Missing::not_here(
            "partition of a cpuset",
            "no control group has one in cpuset.cpus.partition",
        )),
        _ => Ok(findings),
    }
}

fn judge(host: &HostView, partition: &Partition) -> Option<Finding> {
    let reason = partition.invalid.as_deref()?;
    let name = partition.folder.rsplit('/').next().unwrap_or_default();
    let kind = if partition.is_isolated { "isolated" } else { "root" };
    let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    let message = format!("the {kind} partition {name} is not in force{because}");
    let severity = if partition.is_isolated { Severity::Medium } else { Severity::Low };
    let written = match reason {
        "" => format!("{kind} invalid"),
        _ => format!("{kind} invalid ({reason})"),
    };
    let finding = Finding::new(severity, Confidence::High, message)
        .evidence(format!("{}/cpuset.cpus.partition", partition.folder), written);
    let finding = match partition.wanted.is_empty() {
        true => finding,
        false => on(host, finding, &partition.wanted)
            .evidence(format!("{}/cpuset.cpus", partition.folder), &partition.wanted),
    };
    Some(finding.fix_lasting(format!(
        "remove the reason, then write `{kind}` into {}/cpuset.cpus.partition again and read it back",
        partition.folder
    )))
}

fn on(host: &HostView, finding: Finding, cpus: &CpuSet) -> Finding {
    finding.on(cpus.clone(), host.topology.n_online().max(cpus.len()))
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    const ON: &str = "//- /sys/fs/cgroup/cgroup.subtree_control\ncpuset cpu\n//- /proc/cmdline\nquiet\n\
                      //- /sys/devices/system/cpu/online\n0-7\n";

    fn group(name: &str, state: &str) -> String {
        let folder = format!("//- /sys/fs/cgroup/{name}");
        format!("{folder}/cpuset.cpus.partition\n{state}\n{folder}/cpuset.cpus\n2-3\n")
    }

    #[test]
    fn an_isolated_partition_that_the_kernel_took_back_is_medium() {
        let text = ON.to_owned()
            + &group("rt.slice", "isolated invalid (Cpu list in cpuset.cpus not exclusive)");
        assert_eq!(
            verdict(&CHECK, &text),
            "medium: the isolated partition rt.slice is not in force: Cpu list in cpuset.cpus not exclusive [CPUs 2-3 (2 of 8)]"
        );
    }

    #[test]
    fn a_root_partition_is_low_and_an_old_kernel_gives_no_reason() {
        assert_eq!(
            verdict(&CHECK, &(ON.to_owned() + &group("rt.slice", "root invalid"))),
            "low: the root partition rt.slice is not in force [CPUs 2-3 (2 of 8)]"
        );
    }

    #[test]
    fn partitions_in_force_are_clean_and_a_host_without_any_has_nothing_to_judge() {
        assert_eq!(verdict(&CHECK, &(ON.to_owned() + &group("rt.slice", "isolated"))), "clean");
        assert!(
            verdict(&CHECK, &(ON.to_owned() + &group("rt.slice", "member")))
                .starts_with("not applicable: no partition of a cpuset here")
        );
        assert!(verdict(&CHECK, "").starts_with("not applicable: "));
    }

    #[test]
    fn a_group_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &(ON.to_owned() + &group("rt.slice", "!denied"))),
            "unknown: /sys/fs/cgroup/rt.slice/cpuset.cpus.partition may not be read"
        );
    }
}
