//! File systems of the kernel that this program reads, and that somebody has to mount.

use super::provide::{mount, nothing, readable, right};
use super::{Adds, Kind, Means, NONE, State, by_fact};
use facts::Why;
use facts::access::Capability;

/// Descriptions of tracepoints (Documentation/trace/ftrace.rst).
pub(super) const TRACEFS: Means = Means {
    id: "tracefs",
    title: "tracefs (/sys/kernel/tracing)",
    kind: Kind::Mount,
    adds: Adds {
        text: "each switch, interrupt and tick, with who took the CPU",
        metrics: &["tick-stops", "ticks"],
        losses: &["interrupts", "softirqs", "ticks", "other-tasks", "kernel-threads"],
        commands: &["ledger", "tick", "noise", "bench"],
        ..NONE
    },
    find: |looked| {
        by_fact(&looked.access.tracepoints, "its tracepoints can be read", |missing| match missing
            .why
        {
            Why::Denied => right(looked, Capability::DacReadSearch),
            Why::Absent => {
                nothing("the kernel is built without tracing, or shows it to no container")
            }
            _ => mount(looked, "tracefs", "/sys/kernel/tracing"),
        })
    },
};

/// Version 1 or 2 (Documentation/admin-guide/cgroup-v2.rst).
pub(super) const CGROUPS: Means = Means {
    id: "cgroups",
    title: "control groups (/sys/fs/cgroup)",
    kind: Kind::Mount,
    adds: Adds {
        text: "CPU quotas, and what they take",
        checks: &[
            "cgroup-quota-throttling",
            "clamped-utilization",
            "core-scheduling-idle",
            "invalid-partition",
        ],
        losses: &["cgroup-quota"],
        commands: &["audit", "ledger", "race"],
        ..NONE
    },
    find: |looked| {
        by_fact(&looked.access.cgroups, "/sys/fs/cgroup", |missing| {
            readable(looked, missing, || mount(looked, "cgroup2", "/sys/fs/cgroup"))
        })
    },
};

/// The preemption model, and the log of performance limits.
pub(super) const DEBUGFS: Means = Means {
    id: "debugfs",
    title: "debugfs (/sys/kernel/debug)",
    kind: Kind::Mount,
    adds: Adds {
        text: "the preemption model in force; on Intel's servers since Granite Rapids, what has held the clock down",
        checks: &["lazy-preemption", "fair-server-tick"],
        commands: &["audit"],
        ..NONE
    },
    find: |looked| {
        if looked.host.kernel.preempt_mode.is_ok() {
            return State::Here("/sys/kernel/debug/sched/preempt".to_owned());
        }
        by_fact(&looked.access.debugfs, "/sys/kernel/debug", |missing| {
            readable(looked, missing, || mount(looked, "debugfs", "/sys/kernel/debug"))
        })
    },
};
