//! `kernel-thread-affinity`: the CPUs on which threads of the kernel run that are bound to none.
//!
//! Sources: kernel/kthread.c; include/linux/sched.h (`PF_NO_SETAFFINITY`);
//! Documentation/admin-guide/kernel-per-CPU-kthreads.rst. Threads of interrupts follow their interrupt, and threads
//! that the kernel has bound stay.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::asked;
use crate::settings::task::Task;

const STAT: &str = "/proc/*/stat";
const STATUS: &str = "/proc/*/status";

pub(super) const SETTING: Setting = Setting {
    id: "kernel-thread-affinity",
    title: "the CPUs on which movable threads of the kernel run",
    doc: "\
## What it changes
The CPUs that threads of the kernel may run on which it has bound to none: those that run RCU callbacks (`rcuop/3`),
kipmid, kswapd and the like. A list, or `housekeeping`, the online CPUs that are not isolated. A thread that may run
on some of them keeps those.

## What it costs
The CPUs that are left do all of that work. kswapd away from its node frees memory more slowly.

## When to leave it alone
Where no CPU is isolated. Threads that start later (of a driver that is loaded then) are not covered.
",
    references: &[Reference {
        title: "Linux: Reducing OS jitter due to per-cpu kthreads",
        url: "https://docs.kernel.org/admin-guide/kernel-per-CPU-kthreads.html",
    }],
    takes: "`housekeeping` or a list of online CPUs",
    scope: Scope::Task,
    effect: Effect::AtOnce,
    survives: Survives { reboot: false, hotplug: false, suspend: false },
    risk: Risk::Medium,
    power: "none",
    after: &["tuner", "cpu-online"],
    fixes: &[],
    reads: &[STAT, STATUS],
    looks_at: asked::CPUS_LOOK_AT,
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    let welcome = asked::cpus(&SETTING, scene, wanted.value)?;
    let online = scene.host.topology.online.as_ref()?;
    let (mut writes, mut n_threads) = (Vec::new(), 0);
    for control in scene.controls.matching(STAT) {
        if control.numbers() == [u32::MAX] {
            continue;
        }
        let Some(task) = Task::read(&control)? else { continue };
        if !task.process.is_kernel_thread {
            continue;
        }
        n_threads += 1;
        if task.is_bound || task.process.name.starts_with("irq/") {
            continue;
        }
        let status = format!("{}us", control.path);
        let Some(allowed) = Task::allowed(&status, scene.controls.get(&status))? else { continue };
        if allowed.and(online).minus(&welcome).is_empty() {
            continue;
        }
        let kept = allowed.and(&welcome);
        let to = if kept.is_empty() { &welcome } else { &kept };
        writes.push(task.bind(&allowed, to)?);
    }
    if n_threads == 0 {
        let text =
            "no thread of the kernel can be seen, as in a container: run fullclock on the host";
        return Err(Refusal::Host(text.to_owned()));
    }
    Ok(Change::of(writes))
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn thread(pid: u32, name: &str, flags: u32, cpus: &str) -> String {
        files(&format!(
            "/proc/{pid}/stat {pid} ({name}) S 2 0 0 0 -1 {flags} 0 0 0 0 0 0 0 0 20 0 1 0 9
             /proc/{pid}/status Name: {name}\\nCpus_allowed_list:\t{cpus}"
        ))
    }

    /// `PF_KTHREAD`, and the same with `PF_NO_SETAFFINITY`.
    const MOVABLE: u32 = 0x0020_0040;
    const BOUND: u32 = 0x0420_0040;

    fn host(more: &str) -> String {
        files("online 0-3\nisolated 2-3")
            + &thread(20, "ksoftirqd/3", BOUND, "3")
            + &thread(21, "irq/24-nvme0q1", MOVABLE, "3")
            + &thread(30, "postgres", 0x0040_0000, "0-3")
            + more
    }

    #[test]
    fn movable_threads_leave_isolated_cpus_and_no_other_does() {
        let more = thread(22, "rcuop/3", MOVABLE, "0-3") + &thread(23, "kswapd1", MOVABLE, "2-3");
        assert_eq!(
            planned(&SETTING, "housekeeping", &host(&more)),
            "affinity of 22 (rcuop/3): 0-3 -> 0-1, if taken\n\
             affinity of 23 (kswapd1): 2-3 -> 0-1, if taken"
        );
        let clean = thread(22, "rcuop/3", MOVABLE, "0-1");
        assert_eq!(planned(&SETTING, "housekeeping", &host(&clean)), "nothing");
    }

    #[test]
    fn nothing_isolated_and_no_threads_are_refused() {
        let free = host("").replace("isolated\n2-3", "isolated\n");
        assert!(
            planned(&SETTING, "housekeeping", &free).starts_with("refused: no isolated CPU here")
        );
        assert_eq!(
            planned(&SETTING, "0", &files("online 0-3\nisolated 2-3")),
            "refused: no thread of the kernel can be seen, as in a container: run fullclock on the host"
        );
    }

    #[test]
    fn a_thread_that_may_not_be_read_is_unknown() {
        let denied = files("/proc/22/stat !denied");
        assert_eq!(
            planned(&SETTING, "housekeeping", &host(&denied)),
            "unknown: /proc/22/stat may not be read"
        );
    }
}
