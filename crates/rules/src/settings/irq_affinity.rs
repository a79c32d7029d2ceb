//! `irq-affinity`: the CPUs that take the interrupts of devices.
//!
//! Sources: Documentation/core-api/irq/irq-affinity.rst; kernel/irq/proc.c, kernel/irq/manage.c. Interrupts that the
//! kernel places by itself (`affinity managed`, most queues of NVMe and of some network devices) refuse to be moved,
//! which no file shows beforehand.

use crate::check::Reference;
use crate::setting::{Change, Effect, Planned, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::value;
use facts::change::{Target, Write};
use facts::{CpuSet, Missing, Subject, Subjects};

const AFFINITY: &str = "/proc/irq/*/smp_affinity_list";

pub(super) const SETTING: Setting = Setting {
    id: "irq-affinity",
    title: "the CPUs that take the interrupts of devices",
    doc: "\
## What it changes
`/proc/irq/N/smp_affinity_list` of every device interrupt that may go to other CPUs than the requested ones: a list, or
`housekeeping`, the online CPUs that are not isolated. An interrupt that may go to some of them keeps those; one that
may go to none of them gets them all. Interrupts that belong to a CPU, timers among them, stay.

## What it costs
The CPUs that are left take all interrupts, and a network or storage queue may be answered on another CPU or node than
the one that asked.

## When to leave it alone
Where each CPU has a queue of its own and nothing is isolated. Some interrupts are placed by the kernel and refuse;
that is reported, and the others are moved.
",
    references: &[Reference {
        title: "Linux: SMP IRQ affinity",
        url: "https://docs.kernel.org/core-api/irq/irq-affinity.html",
    }],
    takes: "`housekeeping` or a list of online CPUs",
    scope: Scope::Interrupt,
    effect: Effect::AtOnce,
    survives: Survives { reboot: false, hotplug: false, suspend: false },
    risk: Risk::Medium,
    power: "none",
    after: &["tuner", "cpu-online"],
    fixes: &["irqs-on-isolated"],
    reads: &[AFFINITY],
    looks_at: value::CPUS_LOOK_AT.and(Subjects::of(&[Subject::Interrupts, Subject::Processes])),
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    let welcome = value::cpus(&SETTING, scene, wanted.value)?;
    let online = scene.host.topology.online.as_ref()?;
    let interrupts = scene.host.interrupts.as_ref()?;
    let mut writes = Vec::new();
    for (number, _) in interrupts.devices() {
        let path = AFFINITY.replace('*', &number.to_string());
        // An interrupt whose device is gone has no folder any more.
        let Some(from) = present(scene.controls.get(&path))? else { continue };
        let allowed = CpuSet::parse_list(from)
            .map_err(|expected| Missing::malformed(&path, from, expected.0))?;
        if allowed.and(online).minus(&welcome).is_empty() {
            continue;
        }
        let kept = allowed.and(&welcome);
        let to = if kept.is_empty() { &welcome } else { &kept };
        writes.push(Write::of(Target::control(path), from, to.to_string()).if_taken());
    }
    let change = Change::of(writes);
    Ok(if runs_irqbalance(scene) {
        change.note("irqbalance runs and may move interrupts again: name these CPUs in IRQBALANCE_BANNED_CPULIST (1.8.0 and later; before, in the mask IRQBALANCE_BANNED_CPUS) of /etc/sysconfig/irqbalance or /etc/default/irqbalance, or stop it")
    } else {
        change
    })
}

fn present(fact: Result<&str, Missing>) -> Result<Option<&str>, Missing> {
    match fact {
        Ok(text) => Ok(Some(text)),
        Err(missing) if missing.is_absence() => Ok(None),
        Err(missing) => Err(missing),
    }
}

fn runs_irqbalance(scene: &Scene<'_>) -> bool {
    let processes = scene.host.processes.as_deref().unwrap_or_default();
    processes.iter().any(|it| it.name == "irqbalance")
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn host(affinity: &str) -> String {
        files(&format!(
            "online 0-3
             isolated 2-3
             /proc/interrupts CPU0 CPU1 CPU2 CPU3\\n24: 0 9 0 1 PCI-MSI eth0\\n25: 1 0 0 0 PCI-MSI nvme0q1\\nLOC: 1 1 1 1
             /proc/irq/24/smp_affinity_list {affinity}
             /proc/irq/25/smp_affinity_list 0
             /proc/irq/7/smp_affinity_list 0-3"
        ))
    }

    #[test]
    fn interrupts_leave_isolated_cpus_and_keep_the_others() {
        let plan = |affinity: &str| planned(&SETTING, "housekeeping", &host(affinity));
        let line = |from: &str, to: &str| {
            format!("/proc/irq/24/smp_affinity_list: {from} -> {to}, if taken")
        };
        assert_eq!(plan("1-3"), line("1-3", "1"));
        assert_eq!(plan("3"), line("3", "0-1"));
        assert_eq!(plan("0-1"), "nothing");
    }

    #[test]
    fn a_list_takes_all_device_interrupts() {
        assert_eq!(
            planned(&SETTING, "1", &host("0-3")),
            "/proc/irq/24/smp_affinity_list: 0-3 -> 1, if taken\n\
             /proc/irq/25/smp_affinity_list: 0 -> 1, if taken"
        );
    }

    #[test]
    fn irqbalance_is_named_as_what_undoes_it() {
        let daemon = files(
            "/proc/90/stat 90 (irqbalance) S 1 90 90 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 5",
        );
        let plan = planned(&SETTING, "housekeeping", &(host("0-3") + &daemon));
        assert!(plan.contains("\nnote: irqbalance runs"), "{plan}");
    }

    #[test]
    fn cpus_that_are_not_online_and_a_host_without_isolated_ones_are_refused() {
        assert_eq!(
            planned(&SETTING, "2-5", &host("0-3")),
            "value: CPUs 4-5 are not online; those that are: 0-3"
        );
        let nothing = host("0-3").replace("isolated\n2-3", "isolated\n");
        let plan = planned(&SETTING, "housekeeping", &nothing);
        assert!(plan.starts_with("refused: no isolated CPU here"), "{plan}");
    }
}
