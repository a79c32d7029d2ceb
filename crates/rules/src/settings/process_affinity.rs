//! `process-affinity`: the CPUs on which a process may run, with all of its threads.
//!
//! Sources: sched_setaffinity(2), proc_pid_status(5) (`Cpus_allowed_list`). What the process asks for itself later,
//! and what a cpuset takes from it, is not seen beforehand.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::asked;
use crate::settings::task::Task;
use facts::system::process::Process;
use facts::{Subject, Subjects};

const STAT: &str = "/proc/*/task/*/stat";
const STATUS: &str = "/proc/*/task/*/status";

pub(super) const SETTING: Setting = Setting {
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
    reads: &[STAT, STATUS],
    looks_at: asked::CPUS_LOOK_AT.and(Subjects::of(&[Subject::Processes])),
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    let (who, list) = wanted.value.rsplit_once(':').ok_or_else(|| wanted.not_taken(&SETTING))?;
    let cpus = asked::cpus(&SETTING, scene, list)?;
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
        let pattern = STAT.replacen('*', &process.pid.to_string(), 1);
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
    who == process.pid.to_string() || (kept == process.name && asked::whole(who).is_none())
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn host() -> String {
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
            planned(&SETTING, "mysqld:0-1", &host()),
            "affinity of 70 (mysqld): 0-3 -> 0-1, if taken"
        );
        assert_eq!(
            planned(&SETTING, "70:2", &host()),
            "affinity of 70 (mysqld): 0-3 -> 2, if taken\naffinity of 71 (ib_io): 0-1 -> 2, if taken"
        );
        assert_eq!(planned(&SETTING, "bash:0-3", &host()), "nothing");
    }

    #[test]
    fn a_task_that_has_ended_is_left_out() {
        let stat = "71 (ib_io) S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 500";
        let host = host().replace(stat, "!failed No such process (os error 3)");
        assert_eq!(planned(&SETTING, "70:2", &host), "affinity of 70 (mysqld): 0-3 -> 2, if taken");
    }

    #[test]
    fn threads_of_the_kernel_and_nobody_are_refused() {
        assert!(planned(&SETTING, "kswapd0:0", &host()).ends_with("use kernel-thread-affinity"));
        assert!(planned(&SETTING, "oracle:0", &host()).starts_with("value: no process is called"));
        assert!(planned(&SETTING, "mysqld:9", &host()).starts_with("value: CPUs 9 are not online"));
        assert!(planned(&SETTING, "mysqld", &host()).starts_with("value: process-affinity takes"));
    }

    #[test]
    fn threads_that_may_not_be_read_are_unknown() {
        let status = "/proc/70/task/71/status";
        let known = files(&format!("{status} Name: ib_io\\nCpus_allowed_list:\t0-1"));
        let denied = files(&format!("{status} !denied"));
        assert_eq!(
            planned(&SETTING, "mysqld:0", &host().replace(&known, &denied)),
            format!("unknown: {status} may not be read")
        );
    }
}
