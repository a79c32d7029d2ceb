//! `cpu-online`: which CPUs run at all.
//!
//! Sources: Documentation/core-api/cpu_hotplug.rst; drivers/base/cpu.c. A CPU that no `online` file is of cannot be
//! taken offline; which threads `smt/control` keeps off no file tells before one is tried.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::value;
use facts::change::{Target, Write, is_same};
use facts::{CpuSet, Missing, Subject, Subjects};

const ONLINE: &str = "/sys/devices/system/cpu/cpu*/online";
const AFFINITY: &str = "/proc/irq/*/smp_affinity_list";

/// What reverting does not restore (kernel/sched/core.c, `select_fallback_rq`; kernel/cgroup/cpuset-v1.c).
const NOT_RESTORED: &str = "tasks and cgroup v1 cpusets that are bound to these CPUs lose them, and reverting does not restore that";

/// Who may have had a reason (rasdaemon, `CPU_CE_THRESHOLD` and `CPU_ISOLATION_ENABLE`).
const FAULTY: &str =
    "rasdaemon may have taken a CPU offline for its errors: if it runs here, look in its log first";

pub(super) const SETTING: Setting = Setting {
    id: "cpu-online",
    title: "the CPUs that run",
    doc: "\
## What it changes
`cpuN/online`: `off@8-15` takes CPUs offline, and `on` brings back every one that is plugged in. Tasks, timers and
interrupts of a CPU that goes are moved to others.

## What it costs
Tasks that were bound to a CPU lose that: when the last of their CPUs goes they run anywhere, and neither they nor
cpusets of cgroup v1 get it back when it returns: `off` takes `--i-know`. The kernel moves interrupts whose last CPU
goes; reverting moves them back.

## When to leave it alone
Off is for measuring with fewer cores. To keep work off some CPUs, isolate them; to save power, let them sleep.
rasdaemon may have taken a CPU offline for its errors: look in its log before you bring it back.
",
    references: &[Reference {
        title: "Linux: CPU hotplug in the Kernel",
        url: "https://docs.kernel.org/core-api/cpu_hotplug.html",
    }],
    takes: "`on`, or `off` with CPUs: `off@8-15`",
    scope: Scope::Cpu,
    effect: Effect::AtOnce,
    survives: Survives { reboot: false, hotplug: false, suspend: true },
    risk: Risk::Medium,
    power: "an offline core draws as little as a sleeping one at best",
    after: &["tuner"],
    fixes: &["offline-cpus"],
    reads: &[ONLINE, AFFINITY],
    looks_at: Subjects::of(&[Subject::Cpus, Subject::Isolation, Subject::Interrupts]),
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    if value::switch(&SETTING, wanted)? {
        bring_online(scene, wanted)
    } else {
        let cpus = wanted.cpus.ok_or_else(|| wanted.not_taken(&SETTING))?;
        take_offline(scene, cpus, wanted.i_know)
    }
}

fn bring_online(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    let topology = &scene.host.topology;
    let (present, online) = (topology.present.as_ref()?, topology.online.as_ref()?);
    let offline = present.minus(online).minus(&topology.standby);
    let meant = wanted.cpus.unwrap_or(&offline);
    let strange = meant.minus(present);
    if !strange.is_empty() {
        return Err(Refusal::Value(format!(
            "{} {} not plugged in: {present} are",
            strange.named(),
            strange.agree("is", "are")
        )));
    }
    let threads_off = matches!(topology.smt_control.as_deref(), Ok("off" | "forceoff"));
    let mut writes = Vec::new();
    for cpu in meant.and(&offline).iter() {
        let write = write(scene, cpu, "1")?;
        // The second thread of a core is refused then (`cpu_smt_allowed` in kernel/cpu.c).
        writes.extend(write.map(|it| if threads_off { it.if_taken() } else { it }));
    }
    let change = Change::of(writes).note(FAULTY);
    Ok(if threads_off {
        change.note("smt/control keeps second threads of cores off: those stay offline")
    } else {
        change
    })
}

fn take_offline(scene: &Scene<'_>, cpus: &CpuSet, i_know: bool) -> Planned {
    let online = scene.host.topology.online.as_ref()?;
    if cpus.contains(0) {
        let text = "CPU 0 does work that no other can take over on most machines: it stays online";
        return Err(Refusal::Host(text.to_owned()));
    }
    let left = online.minus(cpus);
    let isolated = scene.host.isolation.kept_free();
    let housekeeping = isolated.map_or(left.clone(), |it| left.minus(&it));
    if housekeeping.is_empty() {
        return Err(Refusal::Host(format!(
            "{} {} the last not isolated: nothing would be left for the system itself",
            cpus.named(),
            cpus.agree("is", "are")
        )));
    }
    let mut writes = Vec::new();
    for cpu in cpus.and(online).iter() {
        writes.extend(write(scene, cpu, "0")?);
    }
    if writes.is_empty() {
        return Ok(Change::default());
    }
    if !i_know {
        return Err(Refusal::NeedsConsent(format!("{NOT_RESTORED}: add --i-know")));
    }
    // Undone after the CPUs are back, since undoing goes backwards.
    writes.splice(0..0, moved_interrupts(scene, cpus)?);
    Ok(Change::of(writes).note(NOT_RESTORED))
}

/// The affinities that the kernel replaces because all of their CPUs go (kernel/irq/cpuhotplug.c, `migrate_one_irq`).
fn moved_interrupts(scene: &Scene<'_>, cpus: &CpuSet) -> Result<Vec<Write>, Refusal> {
    let online = scene.host.topology.online.as_ref()?;
    let mut moved = Vec::new();
    for (number, _) in scene.host.interrupts.as_ref()?.devices() {
        let path = AFFINITY.replace('*', &number.to_string());
        let text = match scene.controls.get(&path) {
            Ok(text) => text,
            // The interrupt of a device that is gone has no folder any more.
            Err(missing) if missing.is_absence() => continue,
            Err(missing) => return Err(Refusal::Unknown(missing)),
        };
        let allowed = CpuSet::parse_list(text)
            .map_err(|expected| Missing::malformed(&path, text, expected.0))?;
        if allowed.and(online).minus(cpus).is_empty() {
            moved.push(Write::forgotten(Target::control(path), text));
        }
    }
    Ok(moved)
}

fn write(scene: &Scene<'_>, cpu: u32, to: &str) -> Result<Option<Write>, Refusal> {
    let path = ONLINE.replace('*', &cpu.to_string());
    let from = scene.controls.get(&path).map_err(|missing: Missing| {
        if missing.is_absence() {
            Refusal::Host(format!("CPU {cpu} cannot be switched: {missing}"))
        } else {
            Refusal::Unknown(missing)
        }
    })?;
    Ok((!is_same(from, to)).then(|| Write::of(Target::control(&path), from, to)))
}

#[cfg(test)]
mod tests {
    use super::{FAULTY, NOT_RESTORED, SETTING};
    use crate::fixture::planned::{files, planned, planned_knowing};

    fn host(more: &str) -> String {
        files(&format!(
            "present 0-3
             online 0-2
             cpu1/online 1
             cpu2/online 1
             cpu3/online 0
             /proc/interrupts CPU0 CPU1 CPU2\\n24: 0 9 0 PCI-MSI eth0\\n25: 1 0 0 PCI-MSI nvme0q1\\nLOC: 1 1 1
             /proc/irq/24/smp_affinity_list 2
             /proc/irq/25/smp_affinity_list 1-2
             {more}"
        ))
    }

    #[test]
    fn cpus_come_and_go() {
        assert_eq!(
            planned(&SETTING, "on", &host("")),
            format!("cpu3/online: 0 -> 1\nnote: {FAULTY}")
        );
        assert_eq!(planned(&SETTING, "on@1", &host("")), "nothing");
        assert_eq!(planned(&SETTING, "off@3", &host("")), "nothing");
    }

    #[test]
    fn taking_cpus_offline_takes_consent_and_restores_interrupts_that_the_kernel_moves() {
        assert_eq!(
            planned(&SETTING, "off@2-3", &host("")),
            format!("consent: {NOT_RESTORED}: add --i-know")
        );
        assert_eq!(
            planned_knowing(&SETTING, "off@2-3", &host("")),
            format!(
                "/proc/irq/24/smp_affinity_list: 2 is forgotten\ncpu2/online: 1 -> 0\nnote: {NOT_RESTORED}"
            )
        );
        let denied = host("").replace("24/smp_affinity_list\n2", "24/smp_affinity_list\n!denied");
        assert_eq!(
            planned_knowing(&SETTING, "off@2", &denied),
            "unknown: /proc/irq/24/smp_affinity_list may not be read"
        );
    }

    #[test]
    fn second_threads_that_are_switched_off_may_refuse() {
        assert_eq!(
            planned(&SETTING, "on", &host("smt/control off")),
            format!(
                "cpu3/online: 0 -> 1, if taken\nnote: {FAULTY}\n\
                 note: smt/control keeps second threads of cores off: those stay offline"
            )
        );
    }

    #[test]
    fn the_first_cpu_and_the_last_that_are_not_isolated_stay() {
        assert!(planned(&SETTING, "off@0-1", &host("")).starts_with("refused: CPU 0 does"));
        let isolated = host("isolated 0").replace("online\n0-2", "online\n0-1");
        assert!(planned(&SETTING, "off@1", &isolated).starts_with("refused: CPU 1 is the last"));
        assert!(planned(&SETTING, "off", &host("")).starts_with("value: cpu-online takes"));
        assert!(planned(&SETTING, "on@9", &host("")).starts_with("value: CPU 9 is not plugged"));
    }

    #[test]
    fn a_switch_that_is_not_there_is_refused() {
        let no_switch = host("").replace("//- /sys/devices/system/cpu/cpu2/online\n1\n", "");
        assert!(planned(&SETTING, "off@2", &no_switch).starts_with("refused: CPU 2 cannot be"));
    }
}
