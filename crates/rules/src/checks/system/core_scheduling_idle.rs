//! Looks for threads of cores that core scheduling keeps idle although tasks wait for them.
//!
//! Sources: Documentation/admin-guide/hw-vuln/core-scheduling.rst; kernel/sched/core_sched.c (`__sched_core_account_forceidle`), which
//! counts a thread as forced idle only while a task waits for it. The count runs since boot: it does not tell today from last month.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding};
use crate::loss_scale::Lost;
use crate::loss_scale::deviations::FASTER_ALONE;
use facts::system::scheduler::CpuTime;
use facts::{CpuSet, HostView, Missing};
use std::time::Duration;

pub(crate) const CHECK: Check = Check {
    id: "core-scheduling-idle",
    title: "core scheduling keeps threads of cores idle while tasks wait for them",
    doc: "\
## What it looks at
`core_sched.force_idle_usec` in `cpu.stat` of the root control group (version 2), compared with the CPU time that all tasks used
(`usage_usec`), both since boot.

## Why it matters
With core scheduling only tasks of the same cookie may share a core. A hypervisor or a container runtime gives each guest a cookie of its
own, so that one cannot spy on another through the caches of a core. While a task of one guest runs and no second one of that guest is
runnable, the other thread of the core stands idle, however many tasks wait. No usual statistic shows it: the CPU counts as idle.

The severity is that of the share of the needed time that was lost so, a step lower: the thread beside it has the core to itself
meanwhile and runs faster. From 1 % on it is reported.

## When to leave it alone
Where several owners share the machine and SMT stays on: it protects them from each other, and turning SMT off costs more. Guests with
an even number of virtual CPUs, bound to whole cores, lose least.
",
    references: &[
        Reference {
            title: "Linux: Core Scheduling",
            url: "https://docs.kernel.org/admin-guide/hw-vuln/core-scheduling.html",
        },
        Reference {
            title: "Linux: Control Group v2, CPU Interface Files",
            url: "https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files",
        },
    ],
    run,
};

/// A smaller share of the needed time is not worth a change of how the machine is shared.
const LEAST: f64 = 0.01;

/// In a shorter time the CPUs together did not work long enough for a share to mean anything.
const ENOUGH: Duration = Duration::from_secs(60);

fn run(host: &HostView) -> Verdict {
    let time = host.scheduler.cpu_time.as_ref()?;
    let Some(forced) = time.forced_idle else {
        return Err(Missing::not_here(
            "count of forced idle time",
            "cpu.stat has no core_sched.force_idle_usec: this kernel is older than 6.0, or built without CONFIG_SCHED_CORE",
        ));
    };
    let Some(share) = time.forced_share().filter(|it| *it >= LEAST) else { return Ok(Vec::new()) };
    if time.usage + forced < ENOUGH {
        return Ok(Vec::new());
    }
    Ok(vec![finding(host, time, forced, share)])
}

fn finding(host: &HostView, time: &CpuTime, forced: Duration, share: f64) -> Finding {
    let percent = 100.0 * share;
    let seconds = |it: Duration| format!("{:.0} s", it.as_secs_f64());
    let message = format!(
        "core scheduling kept threads of cores idle for {percent:.1} % of the CPU time that tasks needed"
    );
    let lost = Lost::of(share, true).but(&FASTER_ALONE);
    let finding = Finding::of_lost(lost, Confidence::Medium, message)
        .evidence("/sys/fs/cgroup/cpu.stat", format!("core_sched.force_idle_usec {}", forced.as_micros()))
        .evidence("/sys/fs/cgroup/cpu.stat", format!("usage_usec {}", time.usage.as_micros()))
        .cost(
            format!("{percent:.1} % of the CPU time that tasks needed, since boot"),
            format!("{} forced idle beside {} of work", seconds(forced), seconds(time.usage)),
        )
        .fix_lasting(
            "guests with whole cores of their own (an even number of virtual CPUs, bound to both threads of each core), or, on a machine \
             with one owner, no core scheduling: an option of the hypervisor or of the container runtime",
        );
    let online: CpuSet = host.topology.online.clone().unwrap_or_default();
    if online.is_empty() { finding } else { finding.on(online.clone(), online.len()) }
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    fn host(usage_s: u64, forced_s: u64) -> String {
        format!(
            "//- /sys/devices/system/cpu/online\n0-3\n//- /sys/fs/cgroup/cpu.stat\nusage_usec {usage_s}000000\n\
             user_usec 1\nsystem_usec 1\nnice_usec 0\ncore_sched.force_idle_usec {forced_s}000000\n"
        )
    }

    #[test]
    fn a_quarter_of_the_needed_time_is_medium() {
        assert_eq!(
            verdict(&CHECK, &host(30_000, 10_000)),
            "medium: core scheduling kept threads of cores idle for 25.0 % of the CPU time that tasks needed [all 4 CPUs]"
        );
        assert_eq!(
            verdict(&CHECK, &host(9000, 500)).split_once(':').map(|it| it.0.to_owned()),
            Some("low".to_owned())
        );
        let finding = findings(&CHECK, &host(30_000, 10_000)).remove(0);
        assert!(finding.is_as_severe_as_its_loss(CHECK.id));
    }

    #[test]
    fn none_little_and_a_host_that_has_hardly_run_are_clean() {
        assert_eq!(verdict(&CHECK, &host(30_000, 0)), "clean");
        assert_eq!(verdict(&CHECK, &host(30_000, 200)), "clean");
        assert_eq!(verdict(&CHECK, &host(30, 20)), "clean");
    }

    #[test]
    fn a_kernel_that_does_not_count_it_has_nothing_to_judge() {
        let host = "//- /sys/fs/cgroup/cpu.stat\nusage_usec 5\nuser_usec 1\nsystem_usec 1\n";
        assert!(
            verdict(&CHECK, host)
                .starts_with("not applicable: no count of forced idle time here: cpu.stat has no")
        );
        assert_eq!(verdict(&CHECK, ""), "not applicable: /sys/fs/cgroup/cpu.stat does not exist");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, "//- /sys/fs/cgroup/cpu.stat\n!denied\n"),
            "unknown: /sys/fs/cgroup/cpu.stat may not be read"
        );
    }
}
