//! `isolated-partition`: a control group's CPUs outside of the scheduler's domains, without a boot.
//!
//! Sources: Documentation/admin-guide/cgroup-v2.rst, "cpuset.cpus.partition"; kernel/cgroup/cpuset.c (`update_prstate`, `perr_strings`).
//! `isolated` is there since Linux 6.1. A partition that cannot be made is no error of the write: the file then reads `isolated invalid`,
//! so that reading it back decides.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::{file, task_affinity, value};
use facts::change::{Target, Write};
use facts::system::partition::{State, state};
use facts::{CpuSet, Missing};

const PARTITION: &str = "/sys/fs/cgroup/*/cpuset.cpus.partition";
const CPUS: &str = "/sys/fs/cgroup/*/cpuset.cpus";

pub(super) const SETTING: Setting = Setting {
    id: "isolated-partition",
    title: "a control group's CPUs are kept free of all other tasks",
    doc: "\
## What it changes
`cpuset.cpus.partition` of a control group of version 2 directly below the root, such as a slice of systemd: `isolated`. Its CPUs are then
taken out of the scheduler's domains, as `isolcpus=` does at boot: tasks of other groups leave them, no load balancer moves tasks onto or
between them, and (Linux 6.7 and later) unbound work of the kernel stays away. `GROUP:member` gives them back.

The group has to exist, with CPUs of its own in `cpuset.cpus`: `systemctl set-property --runtime db.slice AllowedCPUs=4-7`. What runs in it
has to bind its own threads, because the scheduler no longer spreads them.

## What it costs
Every other task has the remaining CPUs only. A group with more runnable threads than it binds has them queue on one CPU while the others of
the partition are idle.

The kernel then lets its own threads run on every CPU outside of the partition, also on those that `nohz_full=` or `kernel-thread-affinity`
had kept them off: request `kernel-thread-affinity=housekeeping` afterwards, in a change of its own. When this one is reverted, those
that can be bound are bound as before; workers of workqueues and threads of interrupts are not. Before Linux 6.2 the kernel also forgets to
which CPUs programs have bound their threads in the groups that lose CPUs, and nothing brings that back: restart such programs.

## When to leave it alone
Where `isolcpus=` is on the boot line for the same CPUs. The tick stays unless the CPUs are in `nohz_full=`, too, which needs a boot.
",
    references: &[Reference {
        title: "Linux: Control Group v2, Cpuset Interface Files",
        url: "https://docs.kernel.org/admin-guide/cgroup-v2.html#cpuset-interface-files",
    }],
    takes: "the name of a group directly below /sys/fs/cgroup, or that and `:member`",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives { reboot: false, hotplug: false, suspend: true },
    risk: Risk::Medium,
    power: "none",
    after: &["tuner", "cpu-online"],
    fixes: &[],
    reads: &[PARTITION, CPUS, task_affinity::STAT, task_affinity::STATUS],
    looks_at: value::CPUS_LOOK_AT,
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    let (group, to) = match wanted.value.split_once(':') {
        None => (wanted.value, "isolated"),
        Some((group, "member")) => (group, "member"),
        Some(_) => return Err(wanted.not_taken(&SETTING)),
    };
    if group.is_empty() || group.contains('/') || group.starts_with('.') {
        return Err(wanted.not_taken(&SETTING));
    }
    let path = PARTITION.replace('*', group);
    let from = file::read(scene, &path)?;
    let current = state(from).map_err(|expected| Missing::malformed(&path, from, expected.0))?;
    let is_isolated = matches!(&current, Some(State { is_isolated: true, invalid: None }));
    match (to, &current) {
        ("member", None) => return Ok(Change::default()),
        (_, Some(State { invalid: Some(reason), .. })) if to != "member" => {
            return Err(Refusal::Host(format!("the kernel took the partition back: {reason}")));
        }
        // To write back what it held is refused.
        (_, Some(State { invalid: Some(_), .. })) => {
            return Err(Refusal::Host(format!("{path} holds {from:?}, which no write restores")));
        }
        ("isolated", _) if is_isolated => return Ok(Change::default()),
        ("isolated", _) => has_cpus(scene, group)?,
        _ => {}
    }
    let mut writes = task_affinity::forgotten(scene)?;
    writes.push(Write::of(Target::control(path), from, to));
    Ok(Change::of(writes))
}

/// The kernel isolates no group without CPUs of its own, and leaves none without CPUs.
fn has_cpus(scene: &Scene<'_>, group: &str) -> Result<(), Refusal> {
    let path = CPUS.replace('*', group);
    let text = file::read(scene, &path)?;
    let cpus =
        CpuSet::parse_list(text).map_err(|expected| Missing::malformed(&path, text, expected.0))?;
    if cpus.is_empty() {
        return Err(Refusal::Host(format!(
            "{group} has no CPUs of its own: `systemctl set-property --runtime {group} AllowedCPUs=`, or a list in {path}"
        )));
    }
    let online = scene.host.topology.online.as_ref()?;
    if online.minus(&cpus).is_empty() {
        return Err(Refusal::Host(format!("{group} has every online CPU: nothing else could run")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn host(state: &str, cpus: &str) -> String {
        files(&format!(
            "online 0-7
             /sys/fs/cgroup/db.slice/cpuset.cpus.partition {state}
             /sys/fs/cgroup/db.slice/cpuset.cpus {cpus}"
        ))
    }

    #[test]
    fn a_group_with_cpus_of_its_own_is_isolated_and_given_back() {
        let place = "/sys/fs/cgroup/db.slice/cpuset.cpus.partition";
        assert_eq!(
            planned(&SETTING, "db.slice", &host("member", "4-7")),
            format!("{place}: member -> isolated")
        );
        assert_eq!(
            planned(&SETTING, "db.slice:member", &host("isolated", "4-7")),
            format!("{place}: isolated -> member")
        );
        assert_eq!(
            planned(&SETTING, "db.slice", &host("root", "4-7")),
            format!("{place}: root -> isolated")
        );
        assert_eq!(planned(&SETTING, "db.slice", &host("isolated", "4-7")), "nothing");
        assert_eq!(planned(&SETTING, "db.slice:member", &host("member", "4-7")), "nothing");
    }

    #[test]
    fn a_group_without_cpus_or_with_all_of_them_is_refused() {
        let plan = planned(&SETTING, "db.slice", &host("member", ""));
        assert!(plan.starts_with("refused: db.slice has no CPUs of its own"), "{plan}");
        let plan = planned(&SETTING, "db.slice", &host("member", "0-7"));
        assert_eq!(plan, "refused: db.slice has every online CPU: nothing else could run");
    }

    #[test]
    fn a_partition_that_the_kernel_took_back_is_refused_with_its_reason() {
        let invalid = host("isolated invalid (Cpu list in cpuset.cpus not exclusive)", "4-7");
        assert_eq!(
            planned(&SETTING, "db.slice", &invalid),
            "refused: the kernel took the partition back: Cpu list in cpuset.cpus not exclusive"
        );
    }

    #[test]
    fn threads_of_the_kernel_that_were_bound_are_so_again_when_it_is_undone() {
        let threads = files(
            "/proc/31/stat 31 (rcuop/1) S 2 0 0 0 -1 2097216 0 0 0 0 0 0 0 0 20 0 1 0 9
             /proc/31/status Name: rcuop/1\\nCpus_allowed_list:\t0-3
             /proc/32/stat 32 (kswapd0) S 2 0 0 0 -1 2097216 0 0 0 0 0 0 0 0 20 0 1 0 9
             /proc/32/status Name: kswapd0\\nCpus_allowed_list:\t0-7",
        );
        let plan = planned(&SETTING, "db.slice", &(host("member", "4-7") + &threads));
        let (noted, write) = plan.split_once('\n').unwrap();
        assert!(noted.contains("31 (rcuop/1)") && noted.contains("0-3"), "{noted}");
        assert!(write.ends_with("cpuset.cpus.partition: member -> isolated"), "{write}");
    }

    #[test]
    fn a_group_that_is_not_there_is_refused() {
        let plan = planned(&SETTING, "web.slice", &host("member", "4-7"));
        assert!(plan.starts_with("refused: this kernel has no /sys/fs/cgroup/web.slice"), "{plan}");
        assert!(planned(&SETTING, "a/b", &host("member", "4-7")).starts_with("value: "));
    }
}
