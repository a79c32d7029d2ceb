//! The CPUs on which tasks may run: those of the kernel's movable threads, and those of a process.
//!
//! Sources: sched_setaffinity(2), proc_pid_stat(5), proc_pid_status(5) (`Cpus_allowed_list`). A task may end, and a cpuset
//! may shrink the CPUs that it was given, at any time: the kernel may refuse any of these writes.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::value;
use facts::change::{Control, Target, Write};
use facts::parse::Expected;
use facts::system::isolation::allowed_cpus;
use facts::system::process::Process;
use facts::{CpuSet, Fact, Missing, Subject, Subjects, USER_TICK_NS};

/// Of every process and every thread of the kernel.
pub(super) const STAT: &str = "/proc/*/stat";
pub(super) const STATUS: &str = "/proc/*/status";

const THREAD_STAT: &str = "/proc/*/task/*/stat";
const THREAD_STATUS: &str = "/proc/*/task/*/status";

/// Of the threads that the kernel has bound to no CPU. Threads of interrupts follow their interrupt, and bound ones stay.
///
/// Sources: kernel/kthread.c; include/linux/sched.h (`PF_NO_SETAFFINITY`);
/// Documentation/admin-guide/kernel-per-CPU-kthreads.rst.
pub(super) const KERNEL_THREAD_AFFINITY: Setting = Setting {
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
    looks_at: value::CPUS_LOOK_AT,
    plan: kernel_thread_affinity,
};

fn kernel_thread_affinity(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(KERNEL_THREAD_AFFINITY.id)?;
    let welcome = value::cpus(&KERNEL_THREAD_AFFINITY, scene, wanted.value)?;
    let online = scene.host.topology.online.as_ref()?;
    let Some(threads) = movable_threads(scene)? else {
        let text =
            "no thread of the kernel can be seen, as in a container: run fullclock on the host";
        return Err(Refusal::Host(text.to_owned()));
    };
    let mut writes = Vec::new();
    for (task, allowed) in threads {
        if allowed.and(online).minus(&welcome).is_empty() {
            continue;
        }
        let kept = allowed.and(&welcome);
        let to = if kept.is_empty() { &welcome } else { &kept };
        writes.push(task.bind(&allowed, to)?);
    }
    Ok(Change::of(writes))
}

/// The threads of the kernel that it has bound to no CPU, with the CPUs on which they may run; `None` where it shows no thread at all.
fn movable_threads(scene: &Scene<'_>) -> Fact<Option<Vec<(Task, CpuSet)>>> {
    let (mut threads, mut n_threads) = (Vec::new(), 0);
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
        threads.push((task, allowed));
    }
    Ok((n_threads > 0).then_some(threads))
}

/// Where movable threads of the kernel may run that may not run everywhere, by [`STAT`] and [`STATUS`]: a change of a cpuset's partition gives them all other CPUs
/// (kernel/cgroup/cpuset.c, `cpuset_update_tasks_cpumask`).
pub(super) fn forgotten(scene: &Scene<'_>) -> Fact<Vec<Write>> {
    let online = scene.host.topology.online.as_ref().map_err(Clone::clone)?;
    let threads = movable_threads(scene)?.unwrap_or_default();
    let bound = threads.into_iter().filter(|(_, allowed)| !online.minus(allowed).is_empty());
    bound
        .map(|(task, allowed)| {
            let write = task.bind(&allowed, &allowed)?;
            Ok(Write::forgotten(write.target, allowed.to_string()))
        })
        .collect()
}

/// Of a process with all of its threads. What it requests itself later, and what a cpuset takes from it, is not known
/// beforehand.
pub(super) const PROCESS_AFFINITY: Setting = Setting {
    id: "process-affinity",
    title: "the CPUs on which a process may run",
    doc: "\
## What it changes
The CPUs that every thread of a process may run on: `postgres:0-15` for every process of that name, `4711:0-15` for
one. Threads and processes that it starts later inherit them.

## What it costs
The process cannot use other CPUs, however idle they are.

## When to leave it alone
Where a service manager can do it for good: `CPUAffinity=` or `AllowedCPUs=` of systemd, a cpuset of a container.
Where a cpuset allows fewer CPUs, it wins.
",
    references: &[Reference {
        title: "sched_setaffinity(2)",
        url: "https://man7.org/linux/man-pages/man2/sched_setaffinity.2.html",
    }],
    takes: "a process by name or number and CPUs: `postgres:0-15`",
    scope: Scope::Task,
    effect: Effect::AtOnce,
    survives: Survives { reboot: false, hotplug: false, suspend: true },
    risk: Risk::Medium,
    power: "none",
    after: &["tuner", "cpu-online"],
    fixes: &[],
    reads: &[THREAD_STAT, THREAD_STATUS],
    looks_at: value::CPUS_LOOK_AT.and(Subjects::of(&[Subject::Processes])),
    plan: process_affinity,
};

fn process_affinity(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(PROCESS_AFFINITY.id)?;
    let (who, list) =
        wanted.value.rsplit_once(':').ok_or_else(|| wanted.not_taken(&PROCESS_AFFINITY))?;
    let cpus = value::cpus(&PROCESS_AFFINITY, scene, list)?;
    let processes = scene.host.processes.as_ref()?;
    let meant: Vec<&Process> = processes.iter().filter(|it| is_meant(it, who)).collect();
    let Some(first) = meant.first() else {
        return Err(Refusal::Value(format!("no process is called {who:?} or has that number")));
    };
    if first.is_kernel_thread {
        let text = format!("{} is a thread of the kernel: use kernel-thread-affinity", first.name);
        return Err(Refusal::Value(text));
    }
    let mut writes = Vec::new();
    for process in meant {
        let pattern = THREAD_STAT.replacen('*', &process.pid.to_string(), 1);
        for control in scene.controls.matching(&pattern) {
            let Some(task) = Task::read(&control)? else { continue };
            let status = control.path.replace("/stat", "/status");
            let allowed = Task::allowed(&status, scene.controls.get(&status))?;
            if let Some(from) = allowed.filter(|from| *from != cpus) {
                writes.push(task.bind(&from, &cpus)?);
            }
        }
    }
    Ok(Change::of(writes))
}

/// By number, or by the name that the kernel keeps 15 bytes of.
fn is_meant(process: &Process, who: &str) -> bool {
    const KEPT: usize = 15;
    let kept = who.get(..KEPT).unwrap_or(who);
    who == process.pid.to_string() || (kept == process.name && value::whole(who).is_none())
}

struct Task {
    /// Its own number, name and start.
    process: Process,
    /// Whether the kernel has bound it for good.
    is_bound: bool,
}

/// `PF_NO_SETAFFINITY` of include/linux/sched.h.
const BOUND: u64 = 0x0400_0000;

impl Task {
    /// From a stat file; `None` where the task has ended.
    fn read(control: &Control<'_>) -> Fact<Option<Task>> {
        match &control.text {
            Ok(text) => Task::parse(text)
                .map(Some)
                .map_err(|it| Missing::malformed(control.path, text, it.0)),
            Err(missing) if has_ended(missing) => Ok(None),
            Err(missing) => Err(missing.clone()),
        }
    }

    fn parse(text: &str) -> Result<Task, Expected> {
        let process = Process::parse(text)?;
        let flags =
            text.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(6)?.parse().ok());
        let flags: u64 = flags.ok_or(Expected("flags in field 9"))?;
        Ok(Task { process, is_bound: flags & BOUND != 0 })
    }

    /// The CPUs that its status file lets it run on; `None` where the task has ended.
    fn allowed(path: &str, status: Fact<&str>) -> Fact<Option<CpuSet>> {
        match status {
            Ok(text) => allowed_cpus(text)
                .map(Some)
                .map_err(|it| Missing::malformed(path, "no such line", it.0)),
            Err(missing) if has_ended(&missing) => Ok(None),
            Err(missing) => Err(missing),
        }
    }

    /// The write that binds it to other CPUs.
    fn bind(&self, from: &CpuSet, to: &CpuSet) -> Fact<Write> {
        let started = self.process.started.as_ref()?.as_nanos() / u128::from(USER_TICK_NS);
        let started = u64::try_from(started).unwrap_or(u64::MAX);
        let (tid, name) = (self.process.pid, self.process.name.clone());
        let target = Target::Affinity { tid, started, name };
        Ok(Write::of(target, from.to_string(), to.to_string()).if_taken())
    }
}

/// Whether a file is gone because its task is: it is not there, or reading says that there is no such process.
fn has_ended(missing: &Missing) -> bool {
    missing.is_absence()
        || matches!(&missing.why, facts::Why::Failed(why) if why.contains("No such process"))
}

#[cfg(test)]
mod tests {
    use super::{KERNEL_THREAD_AFFINITY, PROCESS_AFFINITY};
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
            planned(&KERNEL_THREAD_AFFINITY, "housekeeping", &host(&more)),
            "affinity of 22 (rcuop/3): 0-3 -> 0-1, if taken\n\
             affinity of 23 (kswapd1): 2-3 -> 0-1, if taken"
        );
        let clean = thread(22, "rcuop/3", MOVABLE, "0-1");
        assert_eq!(planned(&KERNEL_THREAD_AFFINITY, "housekeeping", &host(&clean)), "nothing");
    }

    #[test]
    fn nothing_isolated_and_no_threads_are_refused() {
        let free = host("").replace("isolated\n2-3", "isolated\n");
        assert!(
            planned(&KERNEL_THREAD_AFFINITY, "housekeeping", &free)
                .starts_with("refused: no isolated CPU here")
        );
        assert_eq!(
            planned(&KERNEL_THREAD_AFFINITY, "0", &files("online 0-3\nisolated 2-3")),
            "refused: no thread of the kernel can be seen, as in a container: run fullclock on the host"
        );
    }

    #[test]
    fn a_thread_that_may_not_be_read_is_unknown() {
        let denied = files("/proc/22/stat !denied");
        assert_eq!(
            planned(&KERNEL_THREAD_AFFINITY, "housekeeping", &host(&denied)),
            "unknown: /proc/22/stat may not be read"
        );
    }

    fn processes() -> String {
        let task = |pid: u32, tid: u32, name: &str, cpus: &str| {
            format!(
                "/proc/{pid}/task/{tid}/stat {tid} ({name}) S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 500
                 /proc/{pid}/task/{tid}/status Name: {name}\\nCpus_allowed_list:\t{cpus}\n"
            )
        };
        let process = |pid: u32, name: &str, flags: u32| {
            format!(
                "/proc/{pid}/stat {pid} ({name}) S 1 1 1 0 -1 {flags} 0 0 0 0 0 0 0 0 20 0 1 0 500\n"
            )
        };
        files(
            &("online 0-3\n".to_owned()
                + &process(70, "mysqld", 4_194_560)
                + &task(70, 70, "mysqld", "0-3")
                + &task(70, 71, "ib_io", "0-1")
                + &process(80, "bash", 4_194_560)
                + &task(80, 80, "bash", "0-3")
                + &process(9, "kswapd0", 2_129_984)),
        )
    }

    #[test]
    fn every_thread_of_the_process_is_bound_and_no_other() {
        assert_eq!(
            planned(&PROCESS_AFFINITY, "mysqld:0-1", &processes()),
            "affinity of 70 (mysqld): 0-3 -> 0-1, if taken"
        );
        assert_eq!(
            planned(&PROCESS_AFFINITY, "70:2", &processes()),
            "affinity of 70 (mysqld): 0-3 -> 2, if taken\naffinity of 71 (ib_io): 0-1 -> 2, if taken"
        );
        assert_eq!(planned(&PROCESS_AFFINITY, "bash:0-3", &processes()), "nothing");
    }

    #[test]
    fn a_task_that_has_ended_is_left_out() {
        let stat = "71 (ib_io) S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 500";
        let host = processes().replace(stat, "!failed No such process (os error 3)");
        assert_eq!(
            planned(&PROCESS_AFFINITY, "70:2", &host),
            "affinity of 70 (mysqld): 0-3 -> 2, if taken"
        );
    }

    #[test]
    fn threads_of_the_kernel_and_nobody_are_refused() {
        assert!(
            planned(&PROCESS_AFFINITY, "kswapd0:0", &processes())
                .ends_with("use kernel-thread-affinity")
        );
        assert!(
            planned(&PROCESS_AFFINITY, "oracle:0", &processes())
                .starts_with("value: no process is called")
        );
        assert!(
            planned(&PROCESS_AFFINITY, "mysqld:9", &processes())
                .starts_with("value: CPU 9 is not online")
        );
        assert!(
            planned(&PROCESS_AFFINITY, "mysqld", &processes())
                .starts_with("value: process-affinity takes")
        );
    }

    #[test]
    fn threads_that_may_not_be_read_are_unknown() {
        let status = "/proc/70/task/71/status";
        let known = files(&format!("{status} Name: ib_io\\nCpus_allowed_list:\t0-1"));
        let denied = files(&format!("{status} !denied"));
        assert_eq!(
            planned(&PROCESS_AFFINITY, "mysqld:0", &processes().replace(&known, &denied)),
            format!("unknown: {status} may not be read")
        );
    }
}
