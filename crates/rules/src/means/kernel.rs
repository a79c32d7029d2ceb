//! What the kernel was built or booted with, or forbids.

use super::provide::nothing;
use super::{Adds, Kind, Means, NONE, Provision, State, by_fact};
use crate::boot_line;
use facts::Why;

/// CONFIG_SCHEDSTATS (Documentation/scheduler/sched-stats.rst).
pub(super) const SCHEDSTAT: Means = Means {
    id: "schedstat",
    title: "/proc/schedstat",
    kind: Kind::Kernel,
    adds: Adds {
        text: "how long tasks ran on each CPU and waited for it",
        metrics: &["run-queue-wait"],
        losses: &["other-tasks", "kernel-threads", "useful"],
        commands: &["ledger", "watch"],
        ..NONE
    },
    find: |looked| {
        by_fact(&looked.access.schedstat, "/proc/schedstat", |_| {
            nothing("the kernel is built without CONFIG_SCHEDSTATS: only another kernel has it")
        })
    },
};

/// Until Linux 5.14 the times in taskstats are those of delay accounting (kernel/delayacct.c).
pub(super) const DELAYS: Means = Means {
    id: "delay-accounting",
    title: "delay accounting",
    kind: Kind::Kernel,
    adds: Adds {
        text: "the run time of tasks that ended, on kernels before 5.14",
        losses: &["other-tasks", "useful"],
        commands: &["ledger", "watch"],
        ..NONE
    },
    find: |looked| {
        const NOT_NEEDED_SINCE: (u32, u32) = (5, 14);
        let kernel = &looked.host.kernel;
        match (kernel.version(), &kernel.boot_line) {
            (Ok(version), _) if version >= NOT_NEEDED_SINCE => {
                State::NotNeeded("Linux 5.14 and later tell the times without it".to_owned())
            }
            (Ok(_), Ok(line)) if line.has("nodelayacct") => State::Lacking {
                seen: "/proc/cmdline has nodelayacct".to_owned(),
                by: Provision::Nothing(boot_line::without(looked.host, "nodelayacct")),
            },
            (Ok(_), Ok(_)) => State::Here("nothing on the boot line turns it off".to_owned()),
            (Err(missing), _) => State::Unknown(missing),
            (_, Err(missing)) => State::Unknown(missing.clone()),
        }
    },
};

/// kernel_lockdown(7).
pub(super) const LOCKDOWN: Means = Means {
    id: "no-lockdown",
    title: "a kernel that is not locked down",
    kind: Kind::Kernel,
    adds: Adds {
        text: "changes of registers, and files of debugfs",
        checks: &["lazy-preemption", "fair-server-tick"],
        commands: &["apply", "experiment"],
        ..NONE
    },
    find: |looked| match &looked.access.lockdown {
        Ok(line) if line.contains("[none]") => State::Here("lockdown is none".to_owned()),
        Ok(line) => State::Lacking {
            seen: format!("/sys/kernel/security/lockdown = {line}"),
            by: nothing(
                "no command lifts it: Secure Boot or `lockdown=` on the boot line locks the kernel until the next boot",
            ),
        },
        Err(missing) if missing.why == Why::Absent => State::NotNeeded(
            "this kernel cannot be locked down, or securityfs is not mounted".to_owned(),
        ),
        Err(missing) => State::Unknown(missing.clone()),
    },
};
